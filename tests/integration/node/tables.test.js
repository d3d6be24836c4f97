'use strict';
// @google-cloud/bigquery changes datasets and tables and inserts rows over REST, as people's programs do.

const assert = require('node:assert/strict');
const {after, before, describe, it} = require('node:test');
const {BigQuery} = require('@google-cloud/bigquery');
const {adapt, managedwriter} = require('@google-cloud/bigquery-storage');
const {Emulator, PROJECT} = require('./emulator_process.js');
const {EVERY_TYPE} = require('./every_type.js');

const DATASET = 'shop';

describe('tables over REST', () => {
  let emulator;
  let bigquery;

  before(async () => {
    emulator = await Emulator.start('--dataset', `${PROJECT}.${DATASET}`);
    bigquery = emulator.bigquery();
  });

  after(async () => {
    await emulator?.stop();
  });

  async function makeTable(name, fields, rest = {}) {
    const [table] = await bigquery.dataset(DATASET).createTable(name, {schema: {fields}, ...rest});
    return table;
  }

  /** A request with headers of its own, which the client's methods do not take. */
  async function request(method, path, body, headers = {}) {
    const response = await fetch(`${emulator.restUrl}/bigquery/v2/projects/${PROJECT}/${path}`, {
      method,
      headers: {'content-type': 'application/json', ...headers},
      body: JSON.stringify(body),
    });
    return {status: response.status, body: await response.json()};
  }

  it('changes a dataset', async () => {
    const [dataset] = await bigquery.createDataset('changing', {location: 'europe-WEST1', labels: {team: 'data'}});
    const [before] = await dataset.getMetadata();
    assert.equal(before.location, 'europe-west1');
    const [after] = await dataset.setMetadata({description: 'text', labels: {team: null, stage: 'test'}});
    assert.equal(after.description, 'text');
    assert.deepEqual(after.labels, {stage: 'test'});
    assert.notEqual(after.etag, before.etag);
    assert.equal(after.creationTime, before.creationTime);
    const [found] = await bigquery.getDatasets({filter: 'labels.stage:test'});
    assert.deepEqual(
      found.map(({id}) => id),
      ['changing']
    );
    await dataset.delete();
  });

  it('changes what a table says of itself', async () => {
    const table = await makeTable('described', [{name: 'id', type: 'INTEGER'}], {description: 'first', labels: {a: 'b'}});
    const [changed] = await table.setMetadata({description: null, friendlyName: 'Name', labels: {c: 'd'}});
    assert.equal(changed.description, undefined);
    assert.equal(changed.friendlyName, 'Name');
    assert.deepEqual(changed.labels, {a: 'b', c: 'd'});
    const expirationTime = String(Date.now() + 3_600_000);
    assert.equal((await table.setMetadata({expirationTime}))[0].expirationTime, expirationTime);
    await assert.rejects(table.setMetadata({labels: {Upper: 'x'}}), error => {
      assert.equal(error.code, 400);
      assert.equal(error.errors[0].reason, 'invalid');
      return true;
    });
  });

  it('guards a change by the etag that was read', async () => {
    const table = await makeTable('guarded', [{name: 'id', type: 'INTEGER'}]);
    const [{etag}] = await table.getMetadata();
    const path = `datasets/${DATASET}/tables/guarded`;
    const first = await request('PATCH', path, {description: 'mine'}, {'if-match': etag});
    assert.equal(first.status, 200);
    assert.notEqual(first.body.etag, etag);
    const late = await request('PUT', path, {description: 'theirs'}, {'if-match': etag});
    assert.equal(late.status, 412);
    assert.equal(late.body.error.errors[0].reason, 'conditionNotMet');
    assert.equal(late.body.error.status, 'FAILED_PRECONDITION');
    assert.equal((await table.getMetadata())[0].description, 'mine');
  });

  it('grows a schema and nothing else', async () => {
    const table = await makeTable('growing', [
      {name: 'id', type: 'INTEGER', mode: 'REQUIRED'},
      {name: 's', type: 'RECORD', fields: [{name: 'x', type: 'STRING'}]},
    ]);
    await table.insert([{id: 1, s: {x: 'old'}}]);
    const grown = [
      {name: 'id', type: 'INTEGER', mode: 'NULLABLE'},
      {
        name: 's',
        type: 'RECORD',
        fields: [
          {name: 'x', type: 'STRING'},
          {name: 'y', type: 'DATE', mode: 'REPEATED'},
        ],
      },
      {name: 'price', type: 'NUMERIC', precision: '10', scale: '2'},
    ];
    const [changed] = await table.setMetadata({schema: {fields: grown}});
    assert.deepEqual(
      changed.schema.fields.map(field => [field.name, field.mode]),
      [
        ['id', 'NULLABLE'],
        ['s', 'NULLABLE'],
        ['price', 'NULLABLE'],
      ]
    );
    await table.insert([{s: {y: ['2026-01-02']}, price: '1.25'}]);
    const [rows] = await table.getRows();
    assert.deepEqual(rows[0], {id: 1, s: {x: 'old', y: []}, price: null});
    assert.equal(rows[1].price.toFixed(), '1.25');
    assert.equal(rows[1].s.y[0].value, '2026-01-02');

    for (const [fields, message] of [
      [grown.slice(1), /Field id is missing in new schema/],
      [[{name: 'id', type: 'STRING'}, ...grown.slice(1)], /Field id has changed type from INTEGER to STRING/],
      [[{...grown[0], mode: 'REQUIRED'}, ...grown.slice(1)], /Field id has changed mode from NULLABLE to REQUIRED/],
      [[...grown, {name: 'must', type: 'DATE', mode: 'REQUIRED'}], /Cannot add required fields.*must/],
      [[...grown.slice(0, 2), {...grown[2], precision: '5'}], /NUMERIC\(10, 2\) to NUMERIC\(5, 2\)/],
    ]) {
      await assert.rejects(table.setMetadata({schema: {fields}}), error => {
        assert.equal(error.code, 400);
        assert.match(error.message, message);
        return true;
      });
    }
  });

  it('lets a writer use a column that was added', async () => {
    const table = await makeTable('widened', [{name: 'id', type: 'INTEGER'}]);
    await table.setMetadata({
      schema: {
        fields: [
          {name: 'id', type: 'INTEGER'},
          {name: 'name', type: 'STRING'},
        ],
      },
    });
    const client = emulator.writerClient();
    const destinationTable = `projects/${PROJECT}/datasets/${DATASET}/tables/widened`;
    const stream = await client.getWriteStream({streamId: `${destinationTable}/streams/_default`, view: 'FULL'});
    const connection = await client.createStreamConnection({streamId: managedwriter.DefaultStream, destinationTable});
    const protoDescriptor = adapt.convertStorageSchemaToProto2Descriptor(stream.tableSchema, 'root');
    const writer = new managedwriter.JSONWriter({connection, protoDescriptor});
    assert.equal((await writer.appendRows([{id: 1, name: 'appended'}]).getResult()).error, undefined);
    writer.close();
    client.close();
    await table.insert({id: 2, name: 'inserted'});
    assert.deepEqual((await table.getRows())[0], [
      {id: 1, name: 'appended'},
      {id: 2, name: 'inserted'},
    ]);
  });

  it('inserts rows of every type', async () => {
    const table = await makeTable('every_type', EVERY_TYPE);
    await table.insert({
      id: 9007199254740991,
      ratio: 0.1,
      ok: true,
      raw: Buffer.from([0, 1, 255]),
      at: new Date('2026-07-26T01:02:03.456Z'),
      day: BigQuery.date('2026-07-26'),
      clock: BigQuery.time('01:02:03.456789'),
      local: BigQuery.datetime('2026-07-26T01:02:03.456789'),
      amount: '1.25',
      large: '578960446186580977117854925043439539266.25',
      place: BigQuery.geography('POINT(1 2)'),
      doc: JSON.stringify({k: [1, null]}),
      tags: ['a', 'b'],
      valid: {start: '2026-01-01', end: '2026-02-01'},
    });
    const [[row]] = await table.getRows();
    assert.equal(row.id, 9007199254740991);
    assert.equal(row.ratio, 0.1);
    assert.equal(row.ok, true);
    assert.deepEqual(row.raw, Buffer.from([0, 1, 255]));
    assert.equal(row.at.value, '2026-07-26T01:02:03.456Z');
    assert.equal(row.day.value, '2026-07-26');
    assert.equal(row.clock.value, '01:02:03.456789');
    assert.equal(row.local.value, '2026-07-26T01:02:03.456789');
    assert.equal(row.amount.toFixed(), '1.25');
    assert.equal(row.large.toFixed(), '578960446186580977117854925043439539266.25');
    assert.equal(row.place.value, 'POINT(1 2)');
    assert.deepEqual(JSON.parse(row.doc), {k: [1, null]});
    assert.deepEqual(row.tags, ['a', 'b']);
    assert.equal(row.valid.start.value, '2026-01-01');
    assert.equal((await table.getMetadata())[0].numRows, '1');
  });

  it('tells every bad row and keeps the others out', async () => {
    const table = await makeTable('refused', [
      {name: 'id', type: 'INTEGER', mode: 'REQUIRED'},
      {name: 'name', type: 'STRING', maxLength: '5'},
    ]);
    const rows = [{id: 1}, {id: 'x'}, {id: 3, name: 'too long'}, {id: 4, nope: 1}];
    await assert.rejects(table.insert(rows, {partialRetries: 0}), error => {
      assert.equal(error.name, 'PartialFailureError');
      assert.deepEqual(
        error.errors.map(({row, errors}) => [row.id, errors[0].reason]),
        [
          [1, 'stopped'],
          ['x', 'invalid'],
          [3, 'invalid'],
          [4, 'invalid'],
        ]
      );
      assert.match(error.errors[3].errors[0].message, /no such field: nope/);
      return true;
    });
    assert.deepEqual((await table.getRows())[0], []);
    const lenient = {skipInvalidRows: true, ignoreUnknownValues: true, partialRetries: 0};
    await assert.rejects(table.insert(rows, lenient), error => error.errors.length === 2);
    assert.deepEqual(
      (await table.getRows())[0].map(({id}) => id),
      [1, 4]
    );
    await assert.rejects(table.insert([{id: 1}], {templateSuffix: '_x'}), error => error.code === 501);
  });

  it('takes a row of one insertId once', async () => {
    const table = await makeTable('once', [{name: 'id', type: 'INTEGER'}]);
    const row = {insertId: 'a', json: {id: 1}};
    await table.insert(row, {raw: true});
    await table.insert([row, {insertId: 'b', json: {id: 2}}], {raw: true});
    assert.deepEqual((await table.getRows())[0], [{id: 1}, {id: 2}]);
  });

  it('refuses partitioning and clustering that the service refuses', async () => {
    const fields = [
      {name: 'day', type: 'DATE'},
      {name: 'ratio', type: 'FLOAT'},
    ];
    await assert.rejects(makeTable('p1', fields, {timePartitioning: {type: 'DAY', field: 'ratio'}}), /TIMESTAMP, DATE or/);
    await assert.rejects(makeTable('p2', fields, {clustering: {fields: ['ratio']}}), /not supported on column ratio/);
    const table = await makeTable('p3', fields, {timePartitioning: {type: 'DAY', field: 'day'}});
    const [changed] = await table.setMetadata({timePartitioning: {type: 'DAY', field: 'day', expirationMs: '86400000'}});
    assert.equal(changed.timePartitioning.expirationMs, '86400000');
    await assert.rejects(table.setMetadata({timePartitioning: {type: 'MONTH', field: 'day'}}), /Cannot change partitioning/);
  });
});
