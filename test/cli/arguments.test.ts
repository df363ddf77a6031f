// What a command line may say, and what is said of one that says something else.
import { describe, expect, test } from 'vitest';
import { nearestOf, readLine } from '../../src/cli/arguments.ts';
import { optionsOf } from '../../src/cli/command.ts';
import { ALL_OPTIONS, COMMANDS } from '../../src/cli/commands.ts';
import { EXIT_CODES } from '../../src/cli/failure.ts';
import { runHere } from '../support/cli.ts';

test.each([
  [['projcts'], 'There is no command projcts.', 'Did you mean projects?'],
  [['keys', 'lst'], 'There is no command keys lst.', 'Did you mean list?'],
  [['apply', 'crm', '--dryrun'], 'There is no option --dryrun.', 'Did you mean --dry-run?'],
  [['keys', '--days', '3'], 'trunkline keys list has no option --days.', ''],
  [['keys', '--provider', 'x'], 'trunkline keys list has no option --provider.', ''],
  [['login', '--password-stdi'], 'no option --password-stdi.', 'Did you mean --password-stdin?'],
  [['login', '--project=x'], 'trunkline login has no option --project.', ''],
  [['whoami', '--url'], '--url needs an address: --url=…', ''],
  [['simulate', 'Welcome', '--dasy=3'], 'There is no option --dasy.', 'Did you mean --days?'],
  [['simulate', 'Welcome', '--days'], '--days needs a number: --days=…', ''],
  [['simulate', 'Welcome', '--days', '--json'], '--days needs a number', ''],
  [['apply', 'crm', '--yes=1'], '--yes takes nothing.', ''],
  [['apply', 'crm', '-x'], 'There is no option -x.', ''],
  [['simulate', 'Welcome', 'series'], 'series is a word too many.', 'in quotes'],
  [['simulate', 'Welcome', '--days', '1.5'], '--days is a whole number from 1 to', ''],
  [['simulate'], 'Say which automation', ''],
  [['export'], 'Say which folder', ''],
  [['apply', 'crm', '--yes', '--dry-run'], 'say one of them', ''],
  [['keys', 'create', 'serer'], 'publishable or server, and not serer', 'Did you mean server?'],
  [['whoami', '--url', 'trunkline'], 'trunkline is no address', 'https://'],
  [['whoami', '--url', 'ftp://example.com'], 'ftp://example.com is no address', ''],
  [['whoami', '--url', 'https://ann:pw@example.com'], 'An address has no password in it', ''],
  [['suppress', 'ann@example.com', '--lift'], 'Say why it is lifted: --reason', ''],
])('2: %j is no use, and says why', async (args, says, todo) => {
  const { code, stdout, stderr } = await runHere(args);
  expect([code, stdout]).toEqual([EXIT_CODES.usage, '']);
  expect(stderr).toContain(says);
  expect(stderr).toContain(todo);
  expect(stderr).not.toContain('ann:pw');
});

test('without an installation it says how to say one', async () => {
  const { code, stderr } = await runHere(['projects'], {
    env: { XDG_CONFIG_HOME: '/nonexistent' },
  });
  expect([code, stderr]).toEqual([2, expect.stringContaining('--url https://')]);
});

test('with --json what is wrong is JSON, also of a line that cannot be read', async () => {
  const { code, stdout, stderr } = await runHere(['projcts', '--json']);
  expect([code, stdout]).toEqual([2, '']);
  expect(JSON.parse(stderr)).toEqual({
    error: 'usage',
    detail: 'There is no command projcts.',
    todo: ['Did you mean projects?'],
  });
});

test('options stand before, between and behind the words, and after -- everything is a word', () => {
  const line = readLine(
    ['--json', 'keys', '--project=A b', 'create', '-y', '--', '--x'],
    ALL_OPTIONS,
  );
  expect(line.words).toEqual(['keys', 'create', '--x']);
  expect([...line.options]).toEqual([
    ['json', true],
    ['project', 'A b'],
    ['yes', true],
  ]);
});

test('the nearest word is one that is near', () => {
  const words = ['export', 'apply', 'explain', 'simulate'];
  expect(
    ['exprt', 'expl', 'aply', 'simulation', 'zebra', ''].map((one) => nearestOf(one, words)),
  ).toEqual(['export', 'explain', 'apply', 'simulate', null, null]);
});

test.each([
  ['x', ['use', 'y', 'ab']],
  ['e', ['export', 'explain']],
  ['ls', ['use', 'keys']],
  ['Sleepers in May', ['Buyers in March', 'Welcome']],
  ['11111111', ['22222222']],
])('%j is near to none of %j', (written, words) => {
  expect(nearestOf(written, words)).toBeNull();
});

test.each([
  ['WELCOME SERIES', 'Welcome series'],
  [' welcome ', 'Welcome'],
  ['Wlecome', 'Welcome'],
  ['Äpfle', 'Äpfel'],
])('%j is near to %j, whatever the case and the order of two letters', (written, word) => {
  expect(nearestOf(written, ['Other', word])).toBe(word);
});

describe('help', () => {
  test.each([[[]], [['--help']], [['-h']], [['help']]])('%j lists every command', async (args) => {
    const { code, stdout } = await runHere(args);
    expect(code).toBe(0);
    for (const { name, says } of COMMANDS) {
      expect(stdout).toContain(`  ${name}`);
      expect(stdout).toContain(says);
    }
  });

  test.each(COMMANDS.map((command) => [command.name, command] as const))(
    'of %s names every option that it takes, in lines of a terminal',
    async (name, command) => {
      for (const args of [
        [...name.split(' '), '--help'],
        ['help', ...name.split(' ')],
      ]) {
        const { code, stdout } = await runHere(args);
        expect([code, stdout]).toEqual([0, expect.stringContaining(`Usage: trunkline ${name}`)]);
        for (const option of Object.keys(optionsOf(command)))
          expect(stdout).toContain(`--${option}`);
        expect(stdout.split('\n').filter((line) => line.length > 105)).toEqual([]);
      }
    },
  );

  test('of several commands lists them', async () => {
    const { stdout } = await runHere(['keys', '--help']);
    expect(stdout).toContain('keys revoke <key>');
    expect(stdout).not.toContain('projects create');
  });

  test('names every exit code', async () => {
    const { stdout } = await runHere([]);
    for (const code of Object.values(EXIT_CODES))
      expect(stdout).toMatch(new RegExp(`\\b${code} \\w`));
  });
});

test('the version is that of the package', async () => {
  const { code, stdout } = await runHere(['--version']);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
});

test('an option of one name takes the same everywhere', () => {
  for (const { options = {} } of COMMANDS)
    for (const [name, { takes, short }] of Object.entries(options))
      expect([name, ALL_OPTIONS[name]?.takes, ALL_OPTIONS[name]?.short]).toEqual([
        name,
        takes,
        short,
      ]);
});

test('nothing is coloured but on a terminal, and not where NO_COLOR asks for none', async () => {
  const colour = '\u001B[';
  expect((await runHere([])).stdout).not.toContain(colour);
  expect((await runHere([], { isTerminal: true })).stdout).toContain(colour);
  const env = { NO_COLOR: '1' };
  expect((await runHere([], { isTerminal: true, env })).stdout).not.toContain(colour);
});
