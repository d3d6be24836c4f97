'use strict';
// Google's bq command against the emulator; skipped where the machine has none.

const assert = require('node:assert/strict');
const {execFile, spawnSync} = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const {after, before, describe, it} = require('node:test');
const {promisify} = require('node:util');
const {adapt, managedwriter} = require('@google-cloud/bigquery-storage');
const {Emulator, PROJECT} = require('./emulator_process.js');

const COMMAND_TIMEOUT_MS = 120_000; // starts a Python interpreter each time
const absent = spawnSync('sh', ['-c', 'command -v bq']).status !== 0;

describe('bq', {skip: absent ? 'there is no bq command on this machine' : false}, () => {
  let emulator;
  let home;

  before(async () => {
    home = fs.mkdtempSync(path.join(os.tmpdir(), 'bq-home-'));
    emulator = await Emulator.start('--dataset', `${PROJECT}.shop`);
  });

  after(async () => {
    await emulator?.stop();
    fs.rmSync(home, {recursive: true, force: true});
  });

  /** Standard output of a bq command; rejects when it fails. */
  async function bq(...commandArguments) {
    const flags = [
      `--api=${emulator.restUrl}`,
      '--oauth_access_token=anything',
      `--project_id=${PROJECT}`,
      '--headless',
      '--bigqueryrc=/dev/null',
    ];
    const {stdout} = await promisify(execFile)('bq', [...flags, ...commandArguments], {
      env: {...process.env, HOME: home, CLOUDSDK_CONFIG: home},
      timeout: COMMAND_TIMEOUT_MS,
    });
    return stdout;
  }

  async function writeRows(table, rows) {
    const client = emulator.writerClient();
    const destinationTable = `projects/${PROJECT}/datasets/shop/tables/${table}`;
    const stream = await client.getWriteStream({streamId: `${destinationTable}/streams/_default`, view: 'FULL'});
    const connection = await client.createStreamConnection({streamId: managedwriter.DefaultStream, destinationTable});
    const protoDescriptor = adapt.convertStorageSchemaToProto2Descriptor(stream.tableSchema, 'root');
    const writer = new managedwriter.JSONWriter({connection, protoDescriptor});
    assert.equal((await writer.appendRows(rows).getResult()).error, undefined);
    writer.close();
    client.close();
  }

  it('makes, shows and lists datasets', async () => {
    assert.match(await bq('mk', '--dataset', '--location=EU', '--description=some text', 'made'), /successfully created/);
    const shown = JSON.parse(await bq('--format=json', 'show', 'made'));
    assert.equal(shown.location, 'EU');
    assert.equal(shown.description, 'some text');
    const listed = JSON.parse(await bq('--format=json', 'ls'));
    assert.deepEqual(
      listed.map(dataset => dataset.datasetReference.datasetId),
      ['made', 'shop']
    );
    await bq('rm', '-f', '-d', 'made');
    await assert.rejects(bq('show', 'made'), error => /Not found: Dataset node-project:made/.test(error.stdout));
  });

  it('makes a table, shows it, and its rows with head', async () => {
    await bq(
      'mk',
      '--table',
      '--time_partitioning_type=DAY',
      '--time_partitioning_field=at',
      '--clustering_fields=name',
      'shop.sales',
      'id:INTEGER,name:STRING,at:TIMESTAMP,price:NUMERIC'
    );
    await writeRows('sales', [
      {id: 1, name: 'pen', at: new Date('2026-07-26T01:02:03Z'), price: '1.25'},
      {id: 2, name: 'ink'},
    ]);
    const shown = JSON.parse(await bq('--format=json', 'show', 'shop.sales'));
    assert.equal(shown.numRows, '2');
    assert.deepEqual(shown.clustering.fields, ['name']);
    assert.equal(shown.timePartitioning.field, 'at');
    const rows = JSON.parse(await bq('--format=json', 'head', '-n', '5', 'shop.sales'));
    assert.deepEqual(rows, [
      {id: '1', name: 'pen', at: '2026-07-26 01:02:03', price: '1.25'},
      {id: '2', name: 'ink', at: null, price: null},
    ]);
    const names = JSON.parse(await bq('--format=json', 'head', '--selected_fields=name', 'shop.sales'));
    assert.deepEqual(names, [{name: 'pen'}, {name: 'ink'}]);
    assert.match(await bq('ls', 'shop'), /sales\s+TABLE/);
    await bq('rm', '-f', '-t', 'shop.sales');
    await assert.rejects(bq('show', 'shop.sales'), error => /Not found: Table node-project:shop.sales/.test(error.stdout));
  });

  it('updates a dataset and a table', async () => {
    await bq('mk', '--dataset', '--label=team:data', 'changing');
    await bq('update', '--description=text', '--set_label=stage:test', '--clear_label=team', 'changing');
    const dataset = JSON.parse(await bq('--format=json', 'show', 'changing'));
    assert.equal(dataset.description, 'text');
    assert.deepEqual(dataset.labels, {stage: 'test'});

    await bq('mk', '--table', 'changing.t', 'id:INTEGER,name:STRING');
    await bq('update', '--description=words', '--set_label=a:b', '--clustering_fields=name', 'changing.t');
    const described = JSON.parse(await bq('--format=json', 'show', 'changing.t'));
    assert.equal(described.description, 'words');
    assert.deepEqual(described.clustering.fields, ['name']);
    assert.equal(described.schema.fields.length, 2);
    await bq('update', '--clustering_fields=', '--expiration=3600', 'changing.t');
    await bq('update', 'changing.t', 'id:INTEGER,name:STRING,at:TIMESTAMP');
    const grown = JSON.parse(await bq('--format=json', 'show', 'changing.t'));
    assert.equal(grown.clustering, undefined);
    assert.ok(Number(grown.expirationTime) > Date.now());
    assert.deepEqual(
      grown.schema.fields.map(field => field.name),
      ['id', 'name', 'at']
    );
    await assert.rejects(bq('update', 'changing.t', 'id:INTEGER'), error =>
      /Field\s+name\s+is\s+missing\s+in\s+new\s+schema/.test(error.stdout)
    );
    await assert.rejects(bq('update', '--etag=stale', '--description=x', 'changing.t'), error =>
      /Precondition\s+check\s+failed/.test(error.stdout)
    );
    await bq('rm', '-r', '-f', '-d', 'changing');
  });

  it('inserts rows', async () => {
    await bq('mk', '--table', 'shop.inserted', 'id:INTEGER,name:STRING');
    const file = path.join(home, 'rows.json');
    fs.writeFileSync(file, '{"id": 1, "name": "pen"}\n{"id": "2"}\n');
    await bq('insert', 'shop.inserted', file);
    const rows = JSON.parse(await bq('--format=json', 'head', 'shop.inserted'));
    assert.deepEqual(rows, [
      {id: '1', name: 'pen'},
      {id: '2', name: null},
    ]);
    fs.writeFileSync(file, '{"id": "x"}\n{"id": 3}\n');
    await assert.rejects(bq('insert', 'shop.inserted', file), error =>
      /Cannot\s+convert\s+value\s+to\s+integer/.test(error.stdout)
    );
    assert.equal(JSON.parse(await bq('--format=json', 'show', 'shop.inserted')).numRows, '2');
  });

  it('is told what is not supported yet', async () => {
    await assert.rejects(bq('query', '--use_legacy_sql=false', 'SELECT 1'), error => /not supported yet/.test(error.stdout));
  });
});
