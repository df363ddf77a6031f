import { askLine, askPassword, canAsk } from './ask.ts';
import type { Answer, Command, Given } from './command.ts';
import { ask, connect, findGiven, findToken, findUrl, open } from './connection.ts';
import { Failure, misused } from './failure.ts';
import { findDevice, findSession, forgetSession, keepDevice, keepSession } from './kept.ts';
import { findProject } from './project.ts';
import { plain, toTime } from './terminal.ts';
import type { World } from './terminal.ts';

const readEmail = async (given: Given, world: World): Promise<string> => {
  const said = given.text('email');
  if (said !== undefined) return said.trim();
  if (!canAsk(world)) throw misused('Say who you are: --email ann@example.com');
  const email = await askLine(world, 'E-mail: ');
  if (email === '') throw misused('Say who you are: --email ann@example.com');
  return email;
};

const login = async (given: Given, world: World): Promise<Answer> => {
  const url = findUrl(given, world);
  const email = await readEmail(given, world);
  const password = await askPassword(world, {
    isPiped: given.is('password-stdin'),
    question: `Password of ${plain(email)} at ${url}: `,
  });
  const isPrinted = given.is('print');
  const earlier = isPrinted
    ? { session: null, device: null }
    : { session: findSession(world, url)?.session ?? null, device: findDevice(world, url) };
  const { token, expiresAt, device } = await open(
    url,
    { email, password, remember_device: !isPrinted },
    earlier,
  );
  const expires_at = expiresAt.toISOString();
  const until = `until ${toTime(expires_at)}`;
  if (isPrinted)
    return {
      value: { url, email, session: token, expires_at },
      text: token,
      aside: `Whoever has this is ${plain(email)}, ${until}: TRUNKLINE_SESSION, with TRUNKLINE_URL.`,
    };
  keepSession(world, { url, email, session: token, expires_at });
  if (device !== null) keepDevice(world, url, device);
  const isOverruled = findGiven(world, url) !== null;
  return {
    value: { url, email, expires_at },
    text: `Signed in to ${url} as ${plain(email)}, ${until}.`,
    ...(isOverruled ? { aside: 'TRUNKLINE_SESSION is set, and counts before it.' } : {}),
  };
};

const logout = async (given: Given, world: World): Promise<Answer> => {
  const url = findUrl(given, world);
  if (findToken(world, url) === null)
    return { value: { url, ended: false }, text: `You are not signed in at ${url}.` };
  const { client } = connect(given, world);
  let ended = true;
  try {
    await ask({ url }, () => client.session.signOut.mutate());
  } catch (error) {
    if (!(error instanceof Failure) || error.ending !== 'signed_out') throw error;
    ended = false;
  }
  if (findGiven(world, url) === null) forgetSession(world, url);
  return {
    value: { url, ended },
    text: ended ? `Signed out of ${url}.` : `The session at ${url} had ended before.`,
  };
};

const whoami = async (given: Given, world: World): Promise<Answer> => {
  const connection = connect(given, world);
  const { url, client } = connection;
  const { items } = await ask(connection, () => client.account.sessions.query());
  const { person } = await ask(connection, () => client.session.current.query());
  const { email = '', is_admin = false } = person ?? {};
  const expires_at = items.find(({ is_current }) => is_current)?.expires_at ?? null;
  const project = await findProject(given, world, connection).catch((error: unknown) => {
    // Which one is meant is not always said.
    if (error instanceof Failure && error.ending === 'usage') return null;
    throw error;
  });
  const lines = [
    `${plain(email)} at ${url}${is_admin ? ', administrator of the installation' : ''}`,
    ...(project ? [`project: ${plain(project.name ?? project.id)}`] : []),
    ...(expires_at === null ? [] : [`signed in until ${toTime(expires_at)}`]),
  ];
  return { value: { url, email, is_admin, expires_at, project }, text: lines.join('\n') };
};

export const sessionCommands: Command[] = [
  {
    name: 'login',
    wordsMax: 0,
    says: 'Sign in, and keep the session on this machine.',
    more:
      'The password is asked for and not shown, or piped in; it is never an argument and never kept. ' +
      'The session is, in a file that only you can read, one for each installation. ' +
      'For CI, --print one, and give it as TRUNKLINE_SESSION together with TRUNKLINE_URL: ' +
      'without the address it is refused, as nobody else may be shown it.',
    options: {
      email: { takes: 'address', says: 'Who signs in.' },
      'password-stdin': { says: 'Read the password from standard input.' },
      print: { says: 'Print the session’s token, and keep nothing.' },
    },
    run: login,
  },
  { name: 'logout', wordsMax: 0, says: 'End the session, there and here.', run: logout },
  {
    name: 'whoami',
    wordsMax: 0,
    says: 'Say who is signed in where, and on which project.',
    isOfProject: true,
    run: whoami,
  },
];
