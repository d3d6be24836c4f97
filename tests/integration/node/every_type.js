'use strict';

/** The fields of a table with a column of every type. */
const EVERY_TYPE = [
  {name: 'id', type: 'INTEGER', mode: 'REQUIRED'},
  {name: 'name', type: 'STRING'},
  {name: 'ratio', type: 'FLOAT'},
  {name: 'ok', type: 'BOOLEAN'},
  {name: 'raw', type: 'BYTES'},
  {name: 'at', type: 'TIMESTAMP'},
  {name: 'day', type: 'DATE'},
  {name: 'clock', type: 'TIME'},
  {name: 'local', type: 'DATETIME'},
  {name: 'amount', type: 'NUMERIC'},
  {name: 'large', type: 'BIGNUMERIC'},
  {name: 'place', type: 'GEOGRAPHY'},
  {name: 'doc', type: 'JSON'},
  {name: 'tags', type: 'STRING', mode: 'REPEATED'},
  {
    name: 'items',
    type: 'RECORD',
    mode: 'REPEATED',
    fields: [
      {name: 'sku', type: 'STRING'},
      {name: 'counts', type: 'INTEGER', mode: 'REPEATED'},
      {name: 'size', type: 'RECORD', fields: [{name: 'w', type: 'FLOAT'}]},
    ],
  },
  {name: 'valid', type: 'RANGE', rangeElementType: {type: 'DATE'}},
];

module.exports = {EVERY_TYPE};
