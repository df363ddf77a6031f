import { phrases } from './phrases.ts';
import type { Rule } from './rule.ts';

/** The domain of the sender has no DNS records, or none that can be asked. */
export const SENDER_DNS_RULES: readonly Rule[] = [
  {
    when: phrases(`dns|mx|lookup|spf|dkim|dmarc|resolve*|verif*`),
    also: phrases(`
      (cannot|can't|could not|unable to|fail*|error|problem|temporar*|signing|timed? ?out)
    `),
    code: /^4\d\d 4\.[34]\./,
    not: phrases(`
      domain not found|sender address rejected|does not exist|recipient|@to|@addr
    `),
    means: 'temporary_local',
  },
  {
    when: phrases(`
      sender (address )?((verify|verification) fail*|(could|can) ?(not|n't) be verified)
      {sender} ... non-?existent _ domain|invalid mx record with
    `),
    not: phrases(`black*|listed|block*|temporar*|unverified address`),
    means: 'sender_dns',
  },
  {
    when: phrases(`
      sender* (address )?(rejected|refused)?.{0,3} domain not found
      {sender} ... (reserved|special use) (domain|tld)
      domain of sender address _ (does not|doesn't)
      {sender} ~ (null ?mx|does not accept mail|no mx|mx record*|a/aaaa|dns (record|error|lookup|
        entry)|unresolvable|not resolve*|cannot be resolved|domain (is )?(empty|invalid|
        not found|does not exist|must exist|not exist)|resolve fail*|unrout(e)?able|
        no (valid )?(mx|dns)|(dns|name ?server) (server )?(reply|response|answer|data))
      (sender|from|sender's|your|sending|envelope) _ domain ... (not (be )?(found|resolv*|exist)|
        (does|did)(n't| not) (exist|resolve|have)|unresolv*|unknown|unroutable|must exist|has no|
        no (a|mx|dns)|resolve fail*|invalid|not registered)
      ^\\W{0,4}@host\\W{0,4} does not exist|invalid sender domain|misconfigured dns
      dns error when resolving|invalid dns mx
      (invalid|no|missing|bad) _ _ (mx|a/aaaa|aaaa) (resource )?record
      (sender|from) _ (host|domain) ... (unknown|not found)|unresolvable rfc.?5321
      domain may not exist or dns check failed|emetteur invalide
      cannot (find|resolve) (your|the sender*) (domain|address)|verify mail ?from failed
      sender (verify|verification) fail*|could not (complete )?sender verif*
      callback* (setup )?failed|callout verification failed|sender address verification
      verification failed for @(from|addr)|valid sender domain|domain is invalid ... valid from
      (unable to|cannot|could not|can't) verify (the )?sender|route to (the )?sender|return mx
      (return|sender|envelope) (e-?mail |mail |address )?domain _ (invalid|unknown|not valid)
      mx does(n't| not) exist|(no|not|without) _ (dns/mx|dns|mx) (entry|entries)
      mx record not allowed|sender domain is (empty|not valid|invalid)
    `),
    not: phrases(`
      recipient|ptr|reverse dns|dkim|dmarc|spf|recipient's|helo|ehlo|recipient address has
      to route
    `),
    means: 'sender_dns',
  },
  // Courier and others: at MAIL no other domain has been named yet.
  {
    when: phrases(`
      (host|domain|dns|mx) _ _ _ (does(n't| not) exist|not exist|not found|nxdomain|must exist|unresolv*|violat*|
        can(not|'t| not) be (found|resolved)|unknown|unrout(e)?able)
      (no|invalid|bad|missing) _ (mx|dns|domain|mail (exchangers?|hosts?))
      (mx|cname|dns|rfc 1035) (records? )?(for|violation)
      mail exchangers? (have|has|are|is)|nxdomain|(unresolv*|unrouteable|unroutable) (domain|host)
    `),
    not: phrases(`
      helo|ehlo|helohost|ptr|reverse|rdns|client|ip|hostname|spf|dkim|dmarc|dnsbl*|listed|try again|recipient
    `),
    at: ['mail'],
    code: /^5/,
    means: 'sender_dns',
  },
  {
    when: phrases(`
      sender (address )?rejected|sender address|invalid (sender|address)|unknown sender
      dns failure|bad sender|dns failure
    `),
    code: /\.1\.8$/,
    not: phrases(`banned|blocked|outbound|outgoing|access denied`),
    means: 'sender_dns',
  },
];
