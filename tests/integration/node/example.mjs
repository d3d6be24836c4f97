// npm install @google-cloud/bigquery @google-cloud/bigquery-storage
import {BigQuery} from '@google-cloud/bigquery';
import {adapt, managedwriter} from '@google-cloud/bigquery-storage';
import grpc from '@grpc/grpc-js';

process.env.METADATA_SERVER_DETECTION = 'none'; // or the clients look for credentials for some seconds
const rest = process.env.EMULATOR_REST ?? 'http://127.0.0.1:9050';
const port = Number(process.env.EMULATOR_GRPC_PORT ?? 9060);

// Over REST: a dataset, a table, a column more, a row.
const bigquery = new BigQuery({projectId: 'p', apiEndpoint: rest});
const [dataset] = await bigquery.createDataset('shop', {location: 'EU'});
const fields = [{name: 'id', type: 'INTEGER', mode: 'REQUIRED'}];
const [table] = await dataset.createTable('orders', {schema: {fields}});
await table.setMetadata({schema: {fields: [...fields, {name: 'name', type: 'STRING'}]}});
await table.insert({id: 1, name: 'inserted'});

// Over gRPC: a row for the table's default stream.
const writer = new managedwriter.WriterClient({
  projectId: 'p', apiEndpoint: '127.0.0.1', port, sslCreds: grpc.credentials.createInsecure(),
});
const destinationTable = 'projects/p/datasets/shop/tables/orders';
const {tableSchema} = await writer.getWriteStream({streamId: `${destinationTable}/streams/_default`, view: 'FULL'});
const rows = new managedwriter.JSONWriter({
  connection: await writer.createStreamConnection({streamId: managedwriter.DefaultStream, destinationTable}),
  protoDescriptor: adapt.convertStorageSchemaToProto2Descriptor(tableSchema, 'root'),
});
await rows.appendRows([{id: 2, name: 'appended'}]).getResult();
rows.close();
writer.close();

console.log((await table.getRows())[0]);
