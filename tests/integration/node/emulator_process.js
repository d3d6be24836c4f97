'use strict';
// Starts the emulator as people do, in a process of its own, and makes Google's clients for it.

const assert = require('node:assert/strict');
const {spawn} = require('node:child_process');
const path = require('node:path');
const readline = require('node:readline');

// No credentials and no metadata server: the clients must not look for either.
process.env.METADATA_SERVER_DETECTION = 'none';
delete process.env.GOOGLE_APPLICATION_CREDENTIALS;

const {BigQuery} = require('@google-cloud/bigquery');
const {managedwriter} = require('@google-cloud/bigquery-storage');
const grpc = require('@grpc/grpc-js');

const PROJECT = 'node-project';
const START_TIMEOUT_MS = 20_000;

/** The program: $PENSTOCK, else the one that `make build` leaves. */
function binary() {
  return process.env.PENSTOCK || path.join(__dirname, '..', '..', '..', 'bin', 'penstock');
}

class Emulator {
  static async start(...extraArguments) {
    const child = spawn(binary(), ['emulate', '--rest-port', '0', '--grpc-port', '0', ...extraArguments], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => resolve({code, signal}));
    });
    const listening = new Promise(resolve => {
      readline.createInterface({input: child.stdout}).on('line', line => {
        const found = /REST on http:\/\/([\d.]+):(\d+), gRPC on [\d.]+:(\d+)/.exec(line);
        if (found) resolve({host: found[1], restPort: Number(found[2]), grpcPort: Number(found[3])});
      });
    });
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error('the emulator did not say where it listens')), START_TIMEOUT_MS);
    });
    const early = ended.then(({code}) => {
      throw new Error(`the emulator ended at once, with code ${code}`);
    });
    try {
      return new Emulator(child, ended, await Promise.race([listening, late, early]));
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    } finally {
      clearTimeout(timer);
      early.catch(() => {});
    }
  }

  constructor(child, ended, {host, restPort, grpcPort}) {
    this.child = child;
    this.ended = ended;
    this.host = host;
    this.restUrl = `http://${host}:${restPort}`;
    this.grpcPort = grpcPort;
  }

  /** Rejects unless it ends as it should. */
  async stop() {
    this.child.kill('SIGTERM');
    const {code} = await this.ended;
    assert.equal(code, 0);
  }

  bigquery() {
    return new BigQuery({projectId: PROJECT, apiEndpoint: this.restUrl});
  }

  writerClient() {
    return new managedwriter.WriterClient({
      projectId: PROJECT,
      apiEndpoint: this.host,
      port: this.grpcPort,
      sslCreds: grpc.credentials.createInsecure(),
    });
  }
}

module.exports = {Emulator, PROJECT};
