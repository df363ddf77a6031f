/**
 * What the words next to a condition name. `user`: an account, a user or an address of unknown
 * owner.
 */
export type Subject = 'sender' | 'client' | 'account' | 'recipient' | 'user' | 'none';

const WORD_START = '(?<![@\\w])';

/** Any of the words, wherever they stand. */
const words = (...patterns: string[]): RegExp =>
  new RegExp(`${WORD_START}(?:${patterns.join('|')})(?!\\w)`, 'g');

/** The words that name each, in folded form. A mask such as `@to` stands for an address. */
const SUBJECTS: readonly (readonly [Subject, RegExp])[] = [
  [
    'sender',
    words(
      'senders?|from:|@from(?:domain)?|originator|originating address',
      'from (?:address|header|field|domain|line)|(?:mail|header|envelope|friendly)[ -]?from',
      'return[ -]path|reverse[ -]path',
      'absender\\w{0,8}|exp.diteur|emetteur|remitente|remetente|mittente',
    ),
  ],
  [
    'client',
    words(
      '@ip|ips?|client|mta|hosts?|server|isp|netblock|networks?|helo|ehlo|ptr|rdns|reverse dns',
      "(?:client|sending|remote|connecting|your|source|originating|mail|e-?mail|this|sender|sender's)" +
        ' (?:mail )?(?:host|hostname|ips?|ip address|server|mta|network|machine|system|range)',
      '(?:messages?|mails?|connections?) from @(?:ip|host)',
    ),
  ],
  [
    'account',
    words(
      'your|you|tenant|organi[sz]ation|subscription|plan|api key|credentials?|sub-?account',
      'outgoing|outbound|sending|submission|mailing|smtp (?:user|account|credential)|account owner',
      'ihr|dein|votre|su cuenta|tu cuenta|sua conta',
    ),
  ],
  [
    'recipient',
    words(
      "@to(?:domain)?|recipient|recipient's",
      "recipients?'? (?:has|have|mailbox|address|domain|quota)|addressees?",
      'mailbox(?:es)?|mail ?box|inbox|mailstore',
      'rcpt|destination|incoming|inbound|receiving',
      '(?:that )?you (?:tried|are trying) to(?: reach| contact)?',
      'postfach|empf.nger\\w{0,8}|destinatair\\w{1,2}|bo.te',
      'destinatari[oa]s?|buz.n|casilla|caixa|casella',
    ),
  ],
  [
    'user',
    words(
      '@addr|users?|accounts?|address(?:es)?|domains?|customers?|subscribers?|alias|person|member',
      'utilisateur|compte|benutzer\\w{0,5}|konto|usu.ri[oa]|cuenta|conta|utente',
      'adresse|direcci.n|endere.o|indirizzo',
    ),
  ],
];

/** How far from the condition a subject may be named, in characters. */
const REACH_CHARS = 64;
/** Words that fit both sides are taken only where nothing else is about as near. */
const DOUBT_CHARS = 24;

type Span = { from: number; to: number };

const distance = (a: Span, b: Span): number => Math.max(0, a.from - b.to, b.from - a.to);

const spansOf = (text: string, pattern: RegExp): Span[] =>
  [...text.matchAll(pattern)].map(({ 0: word, index }) => ({
    from: index,
    to: index + word.length,
  }));

/** The subject that is named nearest to a span of the text; of equals the first of the list. */
export const subjectAt = (text: string, span: Span): Subject => {
  const around = {
    from: Math.max(0, span.from - REACH_CHARS),
    to: Math.min(text.length, span.to + REACH_CHARS),
  };
  const window = text.slice(around.from, around.to);
  const inWindow = { from: span.from - around.from, to: span.to - around.from };
  const found = SUBJECTS.flatMap(([subject, pattern]) =>
    spansOf(window, pattern).map((named) => ({
      subject,
      away: distance(named, inWindow) + (subject === 'user' ? DOUBT_CHARS : 0),
    })),
  );
  found.sort((a, b) => a.away - b.away);
  return found[0]?.subject ?? 'none';
};
