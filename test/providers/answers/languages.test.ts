// Replies in other languages: how their words are spelled, and that they are none of English.
import { describe, expect, test } from 'vitest';
import { classifySmtpReply } from '../../../src/providers/answers/answers.ts';
import {
  LANGUAGE_RULES,
  PASSING_RULES,
} from '../../../src/providers/answers/languages/language_rules.ts';
import { spellings } from '../../../src/providers/answers/languages/spelling.ts';
import { matchRules } from '../../../src/providers/answers/rules/rule.ts';
import { fold } from '../../../src/providers/answers/text/words.ts';

const meaningOf = (reply: string) => classifySmtpReply({ reply, phase: 'rcpt' }).meaning;

describe('a word fits', () => {
  test.each([
    ['with its accent', 'désactivé', 'désactivé'],
    ['without it', 'désactivé', 'desactive'],
    ['where it was lost', 'désactivé', 'd?sactiv?'],
    ['with an umlaut as two letters', 'überfüllt', 'ueberfuellt'],
    ['with a letter that has no accent to take away', 'wyłączone', 'wylaczone'],
    ['with any ending', 'odmítnut*', 'odmítnuta'],
    ['in another script', 'переполнен', 'Ящик ПЕРЕПОЛНЕН'],
    ['without spaces around it', '已满', '邮箱空间已满'],
  ])('%s', (_, word, text) => {
    expect(spellings(word).test(fold(text))).toBe(true);
  });

  test('as a whole only', () => {
    expect(spellings('vol').test(fold('volume'))).toBe(false);
  });
});

describe('in German, French, Italian, Spanish, Portuguese, Polish, Dutch, Czech, Turkish, Russian, Chinese', () => {
  test.each([
    [
      'mailbox_full',
      'Postfach voll',
      'Boîte pleine',
      'Casella piena',
      'Buzón lleno',
      'Caixa cheia',
    ],
    ['mailbox_full', 'Skrzynka pełna', 'Postvak vol', 'Schránka plná', 'Kutu dolu', '邮箱已满'],
    ['recipient_unknown', 'Benutzer unbekannt', 'Compte inconnu', 'Utente sconosciuto'],
    ['recipient_unknown', 'Usuario no existe', 'Пользователь не найден', '用户不存在'],
    ['account_limit', 'Versandlimit pro Tag erreicht', 'Limite diário de envio atingido'],
    ['account_limit', 'Denní limit odeslaných zpráv překročen', '今日发送数量超过限制'],
  ])('%s: %s', (expected, ...replies) => {
    for (const reply of replies) expect(meaningOf(`550 ${reply}`), reply).toBe(expected);
  });
});

describe('the account that sends is never taken for the recipient', () => {
  test.each([
    'Ihr Konto ist für den Versand gesperrt',
    "L'envoi depuis votre compte est suspendu",
    'Invio disabilitato per la casella, modificare la password',
    'Su cuenta ha sido bloqueada',
    'Sua conta foi bloqueada para envio',
    'Ваш аккаунт заблокирован',
    '您的账号已被暂停发信',
  ])('%s', (reply) => {
    for (const phase of ['mail', 'rcpt', 'body'] as const) {
      const { scope, meaning } = classifySmtpReply({ reply: `550 5.1.1 ${reply}`, phase });
      expect(`${scope}/${meaning}`, phase).toBe('account/account_suspended');
    }
  });
});

test.each([
  'the account is inactive and over quota',
  'we refuse mail from a server with spam',
  'this address was moved to the archive',
  'users of this list may expire',
  'maximum volume of messages reached for this account',
  'message identified as spam by the server',
])('English has none of these words: %s', (text) => {
  const words = fold(text);
  const reading = {
    code: 550,
    enhanced: null,
    lines: [text],
    signs: words,
    words,
    phase: 'rcpt' as const,
    class: 5 as const,
    knowsFrom: false,
  };
  expect(matchRules([...LANGUAGE_RULES, ...PASSING_RULES], reading, words)).toBeNull();
});
