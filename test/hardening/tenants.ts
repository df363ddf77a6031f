// Projects never meet.
import type { Area } from './promised.ts';

export const tenants: Area = {
  area: 'Tenant isolation',
  promises: [
    {
      says: 'the project comes from the credential, never from the body',
      shown: {
        'hardening/project_of_key.test.ts': [
          'a body, a query and a header that name another project change nothing there',
        ],
      },
    },
    {
      says: 'there is no way to the tables but through a scope of one project',
      shown: {
        'base/db.test.ts': [
          'a project sees its own rows and no others, in any table',
          'outside a project there are no rows, also on a connection that was in one',
          'a transaction that is over asks nothing, also where its session is in another',
        ],
        'statements.test.ts': [
          'every statement of the service keeps to one project and to what a sharded Postgres can run',
        ],
      },
    },
    {
      says: 'row-level security is forced, and the runtime role owns nothing and cannot pass it by',
      shown: {
        'support/access_rules.ts': [
          'every table with project_id is closed to all but the project of the transaction, its owner included',
          'the runtime role owns nothing, is nobody special and a member of nothing',
        ],
        'base/isolate_table.test.ts': [
          'the policy binds the table’s owner too',
          'the service’s roles can undo none of it',
          'a partition of an isolated table is no way around it',
        ],
      },
    },
    {
      says: 'a cursor is a position and no permission: in another project or list it shows nothing more',
      shown: {
        'hardening/cursors.test.ts': [
          'a cursor of another project shows nothing of that project',
          'a cursor of another list shows nothing but this list, or is refused',
        ],
      },
    },
    {
      says: 'the setting that names the project is local to the transaction',
      shown: { 'isolation.test.ts': ['the project ends with its transaction'] },
    },
    {
      says: 'a foreign id is answered as a random one is: the same status, the same body',
      shown: {
        'http/every_answer.test.ts': ['404 not_found: another project’s looks like nobody’s'],
        'admin/cross_project.test.ts': [
          'answers about another project’s as about nothing, and changes nothing there',
        ],
      },
    },
    {
      says: 'and takes the same work, so that its time tells nothing',
      shown: {
        'hardening/same_work.test.ts': [
          'a foreign id costs the statements that a random one costs, in the same order',
        ],
      },
    },
    {
      says: 'every route and every table is looked at: a new one without isolation fails the build',
      shown: {
        // Rules of the catalogue: each is shown to notice a table that is made without.
        'support/catalogue_rules.ts': [
          '1: every tenant table has project_id: uuid, not null, given by the writer',
        ],
        'support/access_rules.ts': [
          'every table with project_id is closed to all but the project of the transaction, its owner included',
        ],
        'isolation.test.ts': [
          'both projects have a row in every tenant table',
          'with a project, every tenant table shows its rows and no others',
          'a row for another project cannot be added to any tenant table',
        ],
        'hardening/isolated_routes.test.ts': [
          'answers another project’s key with nothing that the project has',
          'every route with a key is looked at',
          'a route whose project is not that of its key would be found',
        ],
        'admin/roles.test.ts': ['every procedure says whom it is for, and the table says the same'],
      },
    },
  ],
};
