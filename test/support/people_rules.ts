import type { Rule } from './catalogue.ts';

/** What base.declare_columns may say of a column. */
const CLASSES = ['Of a person', 'Keyed: cannot be read back', 'Of no person'];
const list = CLASSES.map((said) => `'${said}'`).join(', ');

/** What erasure relies on: the catalogue of what tells of people is whole. */
export const peopleRules: Rule[] = [
  {
    name: 'every column of every table says whether it tells of a person (base.declare_columns)',
    query: `
      select format('%s.%s is not declared: does it tell of a person?', t.name, a.attname)
      from every_table as t
      join pg_attribute as a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
      where t.kind <> 'foreign' and t.name !~ '^migrations\\.' and not t.relispartition
      and coalesce(col_description(t.oid, a.attnum), '') not in (${list})`,
    examples: [
      {
        wrong: 'alter table delivery.sends add column nickname text',
        says: 'delivery.sends.nickname is not declared',
      },
      {
        wrong: 'create table ingest.wrong (project_id uuid primary key)',
        says: 'ingest.wrong.project_id is not declared',
      },
      {
        wrong: `comment on column delivery.sends.recipient is 'Whom it is for'`,
        says: 'delivery.sends.recipient is not declared',
      },
    ],
  },
  {
    name: 'the queue is told nothing that tells of a person',
    query: `
      select format('%s may read %s.%s', :queue, t.name, a.attname)
      from every_table as t
      join pg_attribute as a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
      where t.kind = 'tenant' and not t.relispartition
      and col_description(t.oid, a.attnum) = 'Of a person'
      and has_column_privilege(:queue, t.oid, a.attnum, 'select')`,
    examples: [
      {
        wrong: 'grant select (recipient) on delivery.sends to trunkline_queue',
        says: 'trunkline_queue may read delivery.sends.recipient',
      },
    ],
  },
];
