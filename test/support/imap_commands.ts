/** One message of a folder. */
export type Message = { uid: number; raw: Buffer; flags: Set<string>; at: Date };
export type Folder = { uidValidity: number; uidNext: number; messages: Message[] };

/** What one connection may see. */
export type Account = {
  folders: Map<string, Folder>;
  isUser: (user: string, password: string) => boolean;
  capabilities: () => string[];
  selected: Folder | null;
};

type Answer = (string | Buffer)[];
type Command = { account: Account; tag: string; words: string };

const unquote = (text: string): string =>
  text.replace(/^"(.*)"$/s, '$1').replaceAll(/\\(["\\])/g, '$1');
const ok = (tag: string, what = 'done'): string => `${tag} OK ${what}\r\n`;
const no = (tag: string, what: string): string => `${tag} NO ${what}\r\n`;

/** The words of a command: quoted ones are one. */
const split = (text: string): string[] =>
  (text.match(/"(?:[^"\\]|\\.)*"|\([^)]*\)|\S+/g) ?? []).map(unquote);

const inSet = (set: string, uid: number): boolean =>
  set.split(',').some((range) => {
    const [from = '', to = from] = range.split(':');
    return uid >= Number(from) && (to === '*' || uid <= Number(to));
  });

const login = ({ account, tag, words }: Command): Answer => {
  const [user = '', password = ''] = split(words);
  return account.isUser(user, password)
    ? [ok(tag)]
    : [no(tag, '[AUTHENTICATIONFAILED] wrong user or password')];
};

const select = ({ account, tag, words }: Command): Answer => {
  const folder = account.folders.get(split(words)[0] ?? '');
  if (!folder) return [no(tag, '[NONEXISTENT] no such mailbox')];
  account.selected = folder;
  return [
    `* ${folder.messages.length} EXISTS\r\n`,
    '* FLAGS (\\Seen \\Deleted)\r\n',
    '* OK [PERMANENTFLAGS (\\Seen \\Deleted \\*)] ok\r\n',
    `* OK [UIDVALIDITY ${folder.uidValidity}] ok\r\n`,
    `* OK [UIDNEXT ${folder.uidNext}] ok\r\n`,
    ok(tag, '[READ-WRITE] selected'),
  ];
};

const list = ({ account, tag, words }: Command): Answer => {
  const wanted = split(words).at(-1) ?? '';
  const names = [...account.folders.keys()].filter((name) => wanted === '*' || name === wanted);
  return [...names.map((name) => `* LIST () "/" "${name}"\r\n`), ok(tag)];
};

const status = ({ account, tag, words }: Command): Answer => {
  const name = split(words)[0] ?? '';
  const folder = account.folders.get(name);
  return folder
    ? [`* STATUS "${name}" (MESSAGES ${folder.messages.length})\r\n`, ok(tag)]
    : [no(tag, '[NONEXISTENT] no such mailbox')];
};

const DAY_MS = 86_400_000;

const search = ({ account, tag, words }: Command): Answer => {
  const [, set = '1:*'] = /UID (\S+)/i.exec(words) ?? [];
  const [, since] = /SINCE (\S+)/i.exec(words) ?? [];
  const from = since ? Date.parse(`${unquote(since)} UTC`) : 0;
  const found = (account.selected?.messages ?? []).filter(
    ({ uid, at }) => inSet(set, uid) && Math.floor(at.getTime() / DAY_MS) * DAY_MS >= from,
  );
  return [`* SEARCH${found.map(({ uid }) => ` ${uid}`).join('')}\r\n`, ok(tag)];
};

const fetch = ({ account, tag, words }: Command): Answer => {
  const [set = ''] = split(words);
  const [, start = '0', length = 'Infinity'] = /<(\d+)\.(\d+)>/.exec(words) ?? [];
  const messages = account.selected?.messages ?? [];
  const parts = messages.flatMap(({ uid, raw }, nth): Answer => {
    if (!inSet(set, uid)) return [];
    const slice = raw.subarray(Number(start), Number(start) + Number(length));
    return [
      `* ${nth + 1} FETCH (UID ${uid} BODY[]<${start}> {${slice.length}}\r\n`,
      slice,
      ')\r\n',
    ];
  });
  return [...parts, ok(tag)];
};

const store = ({ account, tag, words }: Command): Answer => {
  const [set = ''] = split(words);
  const flags = (/\(([^)]*)\)\s*$/.exec(words)?.[1] ?? '').split(' ').filter(Boolean);
  for (const message of account.selected?.messages ?? [])
    if (inSet(set, message.uid)) for (const flag of flags) message.flags.add(flag);
  return [ok(tag)];
};

const remove = (folder: Folder, isGone: (message: Message) => boolean): Answer => {
  const answer: Answer = [];
  folder.messages = folder.messages.filter((message, nth) => {
    const gone = isGone(message);
    if (gone) answer.push(`* ${nth + 1 - answer.length} EXPUNGE\r\n`);
    return !gone;
  });
  return answer;
};

const expunge = ({ account, tag, words }: Command): Answer => {
  const { selected } = account;
  const set = words.trim();
  return selected
    ? [
        ...remove(
          selected,
          ({ uid, flags }) => flags.has('\\Deleted') && (set === '' || inSet(set, uid)),
        ),
        ok(tag),
      ]
    : [no(tag, 'nothing is selected')];
};

const move = ({ account, tag, words }: Command): Answer => {
  const [set = '', name = ''] = split(words);
  const target = account.folders.get(name);
  const { selected } = account;
  if (!target || !selected) return [no(tag, '[TRYCREATE] no such mailbox')];
  for (const message of selected.messages.filter(({ uid }) => inSet(set, uid)))
    target.messages.push({ ...message, uid: target.uidNext++ });
  return [...remove(selected, ({ uid }) => inSet(set, uid)), ok(tag)];
};

const COMMANDS: readonly (readonly [RegExp, (command: Command) => Answer])[] = [
  [/^LOGIN /i, login],
  [/^(?:SELECT|EXAMINE) /i, select],
  [/^(?:LIST|LSUB) /i, list],
  [/^STATUS /i, status],
  [/^UID SEARCH /i, search],
  [/^UID FETCH /i, fetch],
  [/^UID STORE /i, store],
  [/^UID EXPUNGE /i, expunge],
  [/^UID MOVE /i, move],
  [/^EXPUNGE/i, expunge],
];

/** Answers one command as a well-behaved server does. */
export const answerCommand = (account: Account, tag: string, command: string): Answer => {
  if (/^CAPABILITY$/i.test(command))
    return [`* CAPABILITY ${account.capabilities().join(' ')}\r\n`, ok(tag)];
  if (/^LOGOUT$/i.test(command)) return ['* BYE\r\n', ok(tag)];
  for (const [name, answer] of COMMANDS) {
    const found = name.exec(command);
    if (found) return answer({ account, tag, words: command.slice(found[0].length) });
  }
  return /^(?:NOOP|ID|ENABLE|CLOSE|UNSELECT)\b/i.test(command)
    ? [ok(tag)]
    : [`${tag} BAD unknown command\r\n`];
};
