// `make analyst project=<uuid> [name=…]` and `make analyst-remove`: logins that read one project's views.
import { listOpenDoors } from './analyst_doors.ts';
import { keepLogin, removeLogin } from './analyst_login.ts';
import { findOwnerDatabase } from './find_database.ts';
import { runCommand } from './run_command.ts';
import { withClient } from './with_client.ts';

const keep = async (projectId: string, name: string): Promise<void> => {
  const databaseUrl = await findOwnerDatabase();
  await withClient(databaseUrl, async (client) => {
    const { role, password } = await keepLogin(client, { projectId, name });
    const url = new URL(databaseUrl);
    url.username = role;
    url.password = password;
    console.log(url.href);
    for (const door of await listOpenDoors(client)) {
      console.error(`Analysts may still ${door}: make the login as a superuser to close that.`);
    }
  });
};

const remove = async (projectId: string, name: string): Promise<void> => {
  const isRemoved = await withClient(await findOwnerDatabase(), (client) =>
    removeLogin(client, { projectId, name }),
  );
  console.log(isRemoved ? 'removed' : 'there is no such login');
};

const [, , command, projectId = '', name = ''] = process.argv;
await runCommand(() => (command === 'remove' ? remove : keep)(projectId, name));
