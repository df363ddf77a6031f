// `make start`: everything on one machine, from nothing to a mail in the catcher.
import { relative } from 'node:path';
import { startEverything } from './everything.ts';
import { isAnswering } from './is_answering.ts';
import type { Everything } from './everything.ts';
import { findFacts, readHome } from './home.ts';
import type { Home } from './home.ts';
import { runCommand } from './run_command.ts';

const startedAt = performance.now();

const show = (home: Home, { facts, curl, held }: Everything): void => {
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  console.log(`
Trunkline is ready (${seconds} s).

  Console           ${facts.console_url}   ${facts.console_login.email} / ${facts.console_login.password}
  API               ${facts.base_url}   described at ${facts.base_url}/docs
  Mail catcher      ${facts.mail_url}
  Publishable key   ${facts.publishable_key}
  Server key        ${facts.server_key}
  Webhook token     ${facts.hook_token}
  For scripts       ${relative('.', home.folder)}/dev.json

This line makes a welcome mail appear in the mail catcher:

  ${curl}
${held === null ? '' : `\n${held}\n`}
Ctrl-C stops everything; the next start finds the data again.`);
};

const main = async (): Promise<void> => {
  const home = readHome();
  const known = await findFacts(home);
  if (known !== null && (await isAnswering(known.base_url))) {
    throw new Error(
      `Trunkline is running already at ${known.base_url}. To run a second one, set PORT and TRUNKLINE_HOME.`,
    );
  }
  const starting = startEverything(
    home,
    (step) => console.log(`  ${step}`),
    process.argv.includes('--watch'),
  );
  const stop = async (): Promise<void> => {
    console.log('\nstopping …');
    await (await starting).stop();
    console.log('stopped; the data is kept');
  };
  let stopping: Promise<void> | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => void (stopping ??= stop()));
  show(home, await starting);
};

await runCommand(main);
