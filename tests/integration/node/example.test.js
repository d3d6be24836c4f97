'use strict';
// The program that docs/emulator.md shows.

const assert = require('node:assert/strict');
const {execFile} = require('node:child_process');
const path = require('node:path');
const {it} = require('node:test');
const {promisify} = require('node:util');
const {Emulator} = require('./emulator_process.js');

it('runs the example of the documentation', async () => {
  const emulator = await Emulator.start();
  try {
    const {stdout} = await promisify(execFile)(process.execPath, [path.join(__dirname, 'example.mjs')], {
      env: {...process.env, EMULATOR_REST: emulator.restUrl, EMULATOR_GRPC_PORT: String(emulator.grpcPort)},
      timeout: 60_000,
    });
    assert.equal(stdout, "[ { id: 1, name: 'inserted' }, { id: 2, name: 'appended' } ]\n");
  } finally {
    await emulator.stop();
  }
});
