import { Random } from './random.ts';

export type Traits = {
  email: string;
  first_name: string;
  last_name: string;
  plan: string;
  country: string;
  timezone: string;
};

const FIRST_NAMES =
  `Ada Agnes Ahmed Aiko Alba Amara Ana Anders Ann Antonio Arjun Astrid Bela Ben Bruno Carla Chen Chloe Clara Daan
  Dana David Diego Dora Elif Emil Emma Erik Eva Farah Felix Fiona Freya Gita Hana Hassan Hugo Ida Ines Iris Ivan Jan
  Jasmin Jonas Juan Kai Karin Kofi Lars Lea Leo Lena Lin Lucia Luis Maja Marco Maria Max Mei Mia Milan Mira Mohamed
  Nadia Naomi Nils Nina Noah Olga Omar Oscar Paul Petra Priya Rosa Ruth Sam Sara Sofia Sven Tariq Theo Tim Uma Vera
  Wei Yara Yuki Zoe`.split(/\s+/);
const LAST_NAMES =
  `Abbas Adeyemi Almeida Andersson Bauer Becker Bianchi Brandt Brown Chen Costa Dubois Eriksen Fernandez Fischer Garcia
  Gupta Haddad Hansen Horvat Ito Ivanova Jansen Jensen Johnson Kaya Khan Kim Kowalski Larsen Lee Lindqvist Lopez Martin
  Meyer Mensah Moreau Moretti Murphy Nakamura Nguyen Novak Okafor Olsen Patel Petrov Popescu Ramos Reyes Ricci Rossi
  Sato Schmidt Silva Singh Smith Sokolov Suzuki Svensson Tanaka Taylor Torres Vega Virtanen Walker Wang Weber Wilson
  Wong Yilmaz Young Zhang`.split(/\s+/);

/** Nobody's: the whole top-level domain is reserved for examples (RFC 2606). */
const MAIL_DOMAINS = 'inbox.example mailbox.example post.example work.example campus.example';
const PLACES = [
  ['US', 'America/New_York'],
  ['US', 'America/Los_Angeles'],
  ['GB', 'Europe/London'],
  ['DE', 'Europe/Berlin'],
  ['FR', 'Europe/Paris'],
  ['IN', 'Asia/Kolkata'],
  ['BR', 'America/Sao_Paulo'],
  ['JP', 'Asia/Tokyo'],
  ['AU', 'Australia/Sydney'],
  ['NG', 'Africa/Lagos'],
] as const;

const SIGN_UP_PROBABILITY = 0.6;

/** Somebody of the seed: the same for the same seed and number, whatever else is made. */
export type Person = {
  anonymousId: string;
  externalId: string;
  /** Whether they tell who they are one day. */
  signsUp: boolean;
  utmSource: string | null;
  traits: Traits;
};

const domains = MAIL_DOMAINS.split(' ');
const SOURCES = ['search', 'newsletter', 'social', 'partner', null, null] as const;
const PLANS = ['free', 'free', 'free', 'pro', 'pro', 'team'] as const;

export const makePerson = (seed: number, number: number): Person => {
  const random = new Random(seed, number, 0x5eed);
  const firstName = random.pick(FIRST_NAMES);
  const lastName = random.pick(LAST_NAMES);
  const [country, timezone] = PLACES[Math.floor(random.unit() ** 1.5 * PLACES.length)] ?? PLACES[0];
  return {
    anonymousId: `browser-${seed}-${number}`,
    externalId: `person-${seed}-${number}`,
    signsUp: random.isTrue(SIGN_UP_PROBABILITY),
    utmSource: random.pick(SOURCES),
    traits: {
      email: `${firstName}.${lastName}.${seed}.${number}@${random.pick(domains)}`.toLowerCase(),
      first_name: firstName,
      last_name: lastName,
      plan: random.pick(PLANS),
      country,
      timezone,
    },
  };
};

/** 0 to 1: people with more come more often. Apart from the person, because it is asked for so often. */
export const eagernessOf = (seed: number, number: number): number =>
  Math.imul(number + 1, 0x9e3779b1 ^ seed) / 2 ** 32 + 0.5;
