'use strict';
// Google's own Node.js client writes to streams of every type; @google-cloud/bigquery sees what is visible of them.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const {after, before, describe, it} = require('node:test');
const {adapt, managedwriter, protos} = require('@google-cloud/bigquery-storage');
const {Emulator, PROJECT} = require('./emulator_process.js');

const DATASET = 'streams';
const {StorageErrorCode} = protos.google.cloud.bigquery.storage.v1.StorageError;
const ALREADY_EXISTS = 6;
const NOT_FOUND = 5;
const OUT_OF_RANGE = 11;

describe('created streams', () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'penstock-node-'));
  let emulator;
  let bigquery;
  let client;

  async function start() {
    emulator = await Emulator.start('--data-dir', directory);
    bigquery = emulator.bigquery();
    client = emulator.writerClient();
  }

  before(async () => {
    await start();
    await bigquery.createDataset(DATASET);
  });

  after(async () => {
    client?.close();
    await emulator?.stop();
    fs.rmSync(directory, {recursive: true, force: true});
  });

  function destination(name) {
    return `projects/${PROJECT}/datasets/${DATASET}/tables/${name}`;
  }

  async function makeTable(name, fields = [{name: 'n', type: 'INTEGER'}]) {
    await bigquery.dataset(DATASET).createTable(name, {schema: {fields}});
  }

  async function visible(name) {
    const [rows] = await bigquery.dataset(DATASET).table(name).getRows();
    return rows.map(row => row.n);
  }

  /** A writer on a stream, a new one of the type unless it is given. */
  async function openWriter(name, streamType, streamId) {
    const connection = await client.createStreamConnection({
      streamId: streamId ?? (await client.createWriteStream({streamType, destinationTable: destination(name)})),
    });
    const {tableSchema} = await client.getWriteStream({streamId: connection.getStreamId(), view: 'FULL'});
    const protoDescriptor = adapt.convertStorageSchemaToProto2Descriptor(tableSchema, 'root');
    return {connection, writer: new managedwriter.JSONWriter({connection, protoDescriptor})};
  }

  /** The StorageErrors in the details of a response's error. */
  function storageErrors(response) {
    const {StorageError} = protos.google.cloud.bigquery.storage.v1;
    return (response.error.details ?? []).map(any => StorageErrorCode[StorageError.decode(any.value).code]);
  }

  it('shows rows of a COMMITTED stream at once and holds appends to their offset', async () => {
    await makeTable('committed');
    const {connection, writer} = await openWriter('committed', managedwriter.CommittedStream);
    const first = await writer.appendRows([{n: 1}, {n: 2}], 0).getResult();
    assert.equal(Number(first.appendResult.offset.value), 0);
    const second = await writer.appendRows([{n: 3}], 2).getResult();
    assert.equal(Number(second.appendResult.offset.value), 2);
    assert.deepEqual(await visible('committed'), [1, 2, 3]);

    const again = await writer.appendRows([{n: 3}], 2).getResult();
    assert.equal(again.error.code, ALREADY_EXISTS);
    assert.deepEqual(storageErrors(again), ['OFFSET_ALREADY_EXISTS']);
    const late = await writer.appendRows([{n: 9}], 7).getResult();
    assert.equal(late.error.code, OUT_OF_RANGE);
    assert.deepEqual(storageErrors(late), ['OFFSET_OUT_OF_RANGE']);

    const {rowCount} = await connection.finalize();
    assert.equal(Number(rowCount), 3);
    assert.deepEqual(await visible('committed'), [1, 2, 3]);
  });

  it('shows rows of a BUFFERED stream as they are flushed', async () => {
    await makeTable('buffered');
    const {connection, writer} = await openWriter('buffered', managedwriter.BufferedStream);
    await writer.appendRows([{n: 1}, {n: 2}, {n: 3}], 0).getResult();
    assert.deepEqual(await visible('buffered'), []);
    await connection.flushRows({offset: 0}); // leaves the field out
    assert.deepEqual(await visible('buffered'), [1]);
    assert.equal(Number((await connection.flushRows({offset: 2})).offset), 2);
    assert.deepEqual(await visible('buffered'), [1, 2, 3]);

    for (const [offset, code, name] of [
      [2, ALREADY_EXISTS, 'OFFSET_ALREADY_EXISTS'],
      [3, OUT_OF_RANGE, 'OFFSET_OUT_OF_RANGE'],
    ]) {
      await assert.rejects(connection.flushRows({offset}), error => {
        assert.equal(error.code, code);
        const [details] = managedwriter.parseStorageErrors(error);
        assert.equal(StorageErrorCode[details.code], name);
        return true;
      });
    }
    assert.deepEqual(await visible('buffered'), [1, 2, 3]);
    writer.close();
  });

  it('shows rows of PENDING streams once they are committed together', async () => {
    await makeTable('pending');
    const names = [];
    for (const numbers of [[1, 2], [3]]) {
      const {connection, writer} = await openWriter('pending', managedwriter.PendingStream);
      await writer.appendRows(numbers.map(n => ({n})), 0).getResult();
      names.push(connection.getStreamId());
      if (numbers.length === 2) await connection.finalize();
    }
    const parent = destination('pending');
    const early = await client.batchCommitWriteStream({parent, writeStreams: names});
    assert.equal(early.commitTime, null);
    assert.deepEqual(
      early.streamErrors.map(error => [error.code, error.entity]),
      [['INVALID_STREAM_STATE', names[1]]]
    );
    assert.deepEqual(await visible('pending'), []);

    await client.finalizeWriteStream({name: names[1]});
    const done = await client.batchCommitWriteStream({parent, writeStreams: names});
    assert.ok(done.commitTime);
    assert.deepEqual(done.streamErrors, []);
    assert.deepEqual(await visible('pending'), [1, 2, 3]);
    const twice = await client.batchCommitWriteStream({parent, writeStreams: [names[0]]});
    assert.equal(twice.streamErrors[0].code, 'STREAM_ALREADY_COMMITTED');
  });

  it('tells a stream that is not there', async () => {
    await makeTable('lonely');
    await assert.rejects(client.getWriteStream({streamId: `${destination('lonely')}/streams/Cic`}), error => {
      assert.equal(error.code, NOT_FOUND);
      assert.equal(managedwriter.parseStorageErrors(error)[0].code, StorageErrorCode.STREAM_NOT_FOUND);
      return true;
    });
  });

  it('knows offsets and flush cursors after a kill', async () => {
    await makeTable('killed');
    const {connection, writer} = await openWriter('killed', managedwriter.BufferedStream);
    const name = connection.getStreamId();
    await writer.appendRows([{n: 1}, {n: 2}, {n: 3}], 0).getResult();
    await connection.flushRows({offset: 1});
    client.close();
    emulator.child.kill('SIGKILL');
    await emulator.ended;
    await start();

    assert.deepEqual(await visible('killed'), [1, 2]);
    const reopened = await openWriter('killed', undefined, name);
    const again = await reopened.writer.appendRows([{n: 3}], 2).getResult();
    assert.deepEqual(storageErrors(again), ['OFFSET_ALREADY_EXISTS']);
    const next = await reopened.writer.appendRows([{n: 4}], 3).getResult();
    assert.equal(Number(next.appendResult.offset.value), 3);
    await assert.rejects(reopened.connection.flushRows({offset: 1}), {code: ALREADY_EXISTS});
    await reopened.connection.flushRows({offset: 3});
    assert.deepEqual(await visible('killed'), [1, 2, 3, 4]);
    reopened.writer.close();
  });

  it('tells a connection of a changed schema and fills missing values with defaults', async () => {
    await makeTable('changed');
    const {connection, writer} = await openWriter('changed', managedwriter.DefaultStream, `${destination('changed')}/streams/_default`);
    await writer.appendRows([{n: 1}]).getResult();
    const table = bigquery.dataset(DATASET).table('changed');
    const [metadata] = await table.getMetadata();
    metadata.schema.fields.push({name: 'state', type: 'STRING', defaultValueExpression: "'new'"});
    await table.setMetadata({schema: metadata.schema});

    const updates = [];
    connection.onSchemaUpdated(schema => updates.push(schema));
    const answer = await writer.appendRows([{n: 2}]).getResult();
    assert.equal(answer.updatedSchema.fields.length, 2);
    assert.deepEqual(
      updates.map(schema => schema.fields.map(field => field.name)),
      [['n', 'state']]
    );
    writer.setProtoDescriptor(adapt.convertStorageSchemaToProto2Descriptor(updates[0], 'root'));
    writer.setDefaultMissingValueInterpretation('DEFAULT_VALUE');
    await writer.appendRows([{n: 3}, {n: 4, state: 'old'}]).getResult();
    writer.close();
    const [rows] = await table.getRows();
    assert.deepEqual(
      rows.map(row => [row.n, row.state]),
      [
        [1, null],
        [2, null],
        [3, 'new'],
        [4, 'old'],
      ]
    );
  });
});
