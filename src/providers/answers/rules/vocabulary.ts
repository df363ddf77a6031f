/**
 * The words that servers use, in folded form: lower case, no accents. A dot stands for an accented
 * letter that was lost on the way. Lines and `|` separate alternatives.
 */
export const VOCABULARY: Record<string, string> = {
  /** Words that name the mailbox that a message is for, and nothing else. */
  mailbox: `
    recipients?|recipient's|addressees?|mailbox(es)?|mail ?box|mbox|mailstore|mailfolder|maildir
    mail drop|inbox|rcpt|envelope recipient|destination( address)?|@to|@todomain|empf.nger*
    postfach|destinataires?|destinatari[oa]s?|buz.n|casilla|caixa( postal)?|casella
    bo.te( aux lettres)?|skrzynka|postkasse|brevlada`,
  /** Words for a person that a server knows. The account may be the sender's as well. */
  person: `
    users?|usernames?|account*|address(es)?|addr|customer|subscriber|alias|e-?mail account
    e-?mail address(es)?|mail ?address(es)?|e-?mail id|@addr|local part|person|member|id|local user|benutzer*
    adresse|konto|mailadresse|utilisateur|compte|usu.ri[oa]|cuenta|direcci.n|conta|endere.o
    utente|indirizzo|gebruiker|ontvanger|uzytkownik|mottagare|uporabnik`,
  unknown: `
    unknown|not (be )?found|could(n't| not) (be )?(find|found|locate*)|(not|never) (been )?used
    (does|did|do|dos)(n't| not|'nt|nt)( currently)? exist|not exist|non-?exist[ae]nt|no exist
    (is|are|was)(n't| not)( currently)? (known|recogni[sz]ed|listed|registered|(a )?valid|
      (a )?local|present|hosted|here|found|available at)
    not known|no such
    no longer (valid|exist*|available|active|with|works?|in use|on|here|employed|in service)
    unrecogni[sz]ed|not recogni[sz]ed|undeliverable|unrout(e)?able|mistyped|misspelled
    unallocated|(has been|have been|was|were|got) (deleted|removed|erased)|never existed|not (present|listed) in
    (not|n't) (in|on) _ _ _ (recipients?|user|address|mailbox) (list|table|database|directory)
    not present|missing home directory|is a dead domain|no account|wrong|unavaiable
    illegal alias|unbekannt*|existiert (hier )?nicht|nicht (gefunden|bekannt|vorhanden|existent)
    gibt es nicht|inconnue?s?|n'existe pas|introuvable|inexistant*|n'est pas (connu|reconnu)
    desconocid[oa]|no (existe|encontrad[oa]|encontramos)|inexistente|desconhecid[oa]
    n.o (existe|encontrad[oa]|foi encontrad[oa])|sconosciut[oa]|non (esiste|trovat[oa])
    onbekend*|bestaat niet|nie istnieje|nie znaleziono|nieznany|finns inte|okand|ukendt|neznamy
    tuntematon`,
  /** Weaker than \`unknown\`: only right beside a word for the recipient. */
  invalid: `
    invalid|bad|not a valid|not valid|illegal|invalide|inv.lid[oa]|ung.ltige?r?|no es v.lid[oa]
    non valid[oa]|non valide|ongeldig|unknown|no such|incorrect`,
  disabled: `
    disabled|suspend|de-?activated|inactive|not active|not (been )?activated|suspended|frozen
    locked|expired|terminated|discontinued|cancell?ed|not enabled|closed|retired|dormant
    abandoned|on hold|switched off|turned off|shut (off|down)|closed down|blocked
    inactivity|archived|unsubscribed|lapsed|deaktiviert|gesperrt
    stillgelegt|d.sactiv.e?|suspendue?|bloqu.e?|archivee?|deshabilitad[oa]|desactivad[oa]
    suspendid[oa]|suspens[oa]|desativad[oa]|bloquead[oa]|inativ[oa]|inactiv[oa]|cancelad[oa]
    disabilitat[oa]|disattivat[oa]|sospes[oa]|bloccat[oa]|inattiv[oa]|scadut[oa]`,
  full: `
    full|over[ -]?quota|over (its |the |their |his )?(disk |mail |storage )?quota
    (disk |disc |mail |storage |mailbox |user |email )?quota (has been |is |was |would be |
      usage )?(exceed*|violation|reached|full|overflow)
    extended quota
    exceed* (\\S{1,20} ){0,4}(quota|storage|disk|mailbox size|allocation|space|storage limit|
      allowed storage|local limit)
    user ?disk quota|domain ?disk quota|quota violation|allowed quota
    not (enough|sufficient) (\\S{1,20} ){0,2}(storage|space|room)
    no (more )?(space|room)( left)?|out of (storage|disk|space|quota)|over(drawn| the allowed)
    exceed* (the |its |their )?(allowed|maximum|max|permitted) (size|limit|storage)
    zuviele mails auf dem server|exhausted _ storage|storage (limit|allocation|quota|space)
    space (is )?not (enough|sufficient)|space (limit|quota) (is|of|reached|exceed*)
    over (the |its |their )?(storage|disk|space|mailbox) (allowance|limit|quota)
    quota (of )?\\d+ ?([kmg]b|[kmg]ib|bytes)
    run out of (room|space|storage)|no longer has (room|space)|(used|using) (all|up|100 ?%) _ _ _ (storage|
      space|quota)
    (storage|quota|space) (quota )?(is )?(100 ?% )?(used|exhausted|filled)
    (reached|hit|at) (its|the|their) (maximum|max|full|storage) (size|capacity|limit|space)
    space has been used up|too much mail data|too many messages on
    insufficient (\\S{1,20} )?(storage|space|quota|disk)|size limit exceeded|limit exe?eeded
    voll|.berf.llt|speicherplatz|pleine?|satur.e?|quota d.pass.e?|surquota|llen[oa]|chei[oa]
    lotad[oa]|pien[oa]|cuota|quota superat[oa]|cota|vol|przepelniona|pelna`,
  sender: `
    senders?(?! .{0,1}@ip)|sender's|from (address|header|field|domain|e-?mail)
    (mail|header|envelope|friendly) ?from(?! (ip )?@(ip|host))(?! ip)|from:|return path
    reverse path|5322.?from|@from|@fromdomain|originator|originating address|absender*
    exp.diteur|emetteur|remitente|remetente|mittente|nadawca|afzender`,
  client: `
    (client|sending|remote|connecting|your|source|originating|mail|e-?mail|this|sender|
      sender's) (mail |smtp |outgoing )?(host|hostname|ips?|ip address|server|mta|network|
      machine|system|range|ipv6 address)
    ips?|ip address(es)?|client|mta|netblock|network|@ip|connections? from|host @host|hosts?
    servers?`,
  /** Lists that receivers ask about a machine or a domain. */
  list: `
    (black|block|deny|spam|reject|blocked) ?lists?|(black|block|deny)listed|blackliste?d?|dnsbl*
    dnswl|rbls?|rbl\\+|realtime block ?lists?|spamhaus|spamcop|barracuda|sorbs|uceprotect
    invaluement|ivmsip|hostkarma|senderscore|cloudmark|abuseat|psbl|mailspike|surriel
    (xbl|sbl|pbl|cbl|zen|css)|lista negra|schwarze liste|liste noire`,
  quantity: `
    limit|limits|limitations?|limiting|quota|thresholds?|rates?|allowance|cap|frequency|volume
    maximum|max|ratio|kontingent|limite|cuota|plafond|peak|allowed
    (number|amount|count) of _ _ (messages|e-?mails|mails|recipients|emails)
    (messages|e-?mails|mails) (per|in)`,
  reached: `
    exceed*|exeeded|exceded|reached|over|hit|exhausted|used up|too (high|many|much|fast)
    surpass*|overrun|violat*|d.pass.e?|atteinte?|excedid[oa]|superad[oa]|alcanzad[oa]
    ultrapassad[oa]|atingid[oa]|excedeu|superat[oa]|raggiunt[oa]|.berschritten|erreicht
    aufgebraucht|above|beyond|limited|fulfilled|consumed|depleted`,
  period: `
    daily|hourly|monthly|weekly
    (per|a|an|in one|this|last|each|every|hour|past) (second|minute|hour|day|month|week)s?
    (second|minute|hour|day)s|24 ?h(ours?)?|\\d+ (seconds?|minutes?|hours?|days?)
    short (time|period)|t.glich*|pro (stunde|tag)|par (heure|jour)|por (hora|d.a)|diari[oa]
    al giorno|all'ora|giornalier[oa]`,
  session: `
    connections?|sessions?|smtp session|conversation|channel`,
  temporary: `
    temporar*|try (it )?(again )?later|try again|later|retry|retried|transient*|currently
    at (this|the|present) (time|moment|present)|at present|busy|overload*|please wait|moment*|again in
    (?<!and )resend(?! (\\S{1,20} ){0,2}(as|in|without|with|after|from|using))
    right now|in progress|not now|sp.ter|plus tard|m.s tarde|mais tarde|pi. tardi
    vor.bergehend|zeitweilig|momentanement|intentelo|reessayer|reintente|riprovare|temporane*
    temporal*|temporairement`,
  /** Words of any refusal. */
  refused: `
    reject*|refus*|den(y|ies|ied)|block*|bann?ed|black*|bad|fake|forged|suspicious|prohibited
    forbidden|disallow*
    (not|n't|never|no longer|cannot) (be )?(allow*|accept*|permitted|welcome)`,
  /** Words that something is not as it should be. */
  wrong: `
    not|n't|no|cannot|invalid|bad|unknown|unavailable|wrong|illegal|fail*|error|problem|missing
    incorrect|undefined|null|unable|does(n't| not)|isn't|reject*`,
  spam: `
    unwanted|rspam|spam(?!haus|cop|rats|rl)[a-z]{0,10}|unsolicited|junk|ube|uce|bulk ?(mail|e-?mail|mailing)?
    mass ?mail[a-z]{0,3}
    phish*|scams?|suspicious|fraud*|pourriel|indesirable|non sollicite|unerw.nscht*|no deseado
    correo basura|indesejad[oa]`,
  /** What is counted when an account sends. */
  piece: `messages?|mails?|e-?mails?|recipients?|rcpts?|letters|sends|deliveries`,
  unit: `seconds?|sec|minutes?|min|hours?|hrs?|days?|weeks?|months?`,
  window: `
    (per|a|an|each|every|this|last|past) {unit}|in (the |this |an? |one |last |\\d+ ){0,2}{unit}
    \\d+ {unit}|today|hourly|daily|monthly|{unit}`,
  /** Words for the mailbox that an account does not have to send from. */
  mailbox_only: `
    recipient's|recipient (has|is|mailbox)|(this|the|that) recipient|mailbox (is )?(full|over)
    inbox|incoming|inbound|addressee`,
  outgoing: `
    (outgoing|outbound|sending|submission) _ (mails?|e-?mails?|messages?|smtp|service)?
    sending|outgoing|outbound`,
  stopped: `
    suspension|suspended|disabled|frozen|stopped|halted|off (for|until|by)|cut( off)?|switched off|turned off
    shut (off|down)|on hold|locked|paused|barred|banned|de-?activated|blocked|restricted(?! to)|revoked|hacked|closed`,
  /** Also as servers misspell it: `requiered`. */
  needed: `requi[a-z]{1,4}d|reqired|needed|necessary|mandatory|obligatory|compulsory|must be used|enforced`,
  /** Whose account stands above the login. */
  owner: `main|primary|parent|master|owner|owner's|customer's|reseller`,
  /** Words of a load. */
  heavy: `heavy|high|excessive|increased|extreme|peak`,
  /** Lists of machines that have names of their own. */
  named_list: `
    spamhaus|spamcop|sorbs|barracuda|uceprotect|dnsbls?|rbls?|invaluement|hostkarma|senderscore
    abuseat|psbl|mailspike|surriel|nixspam|abusix|(xbl|sbl|pbl|cbl|zen)|block ?lists?|blacklists?`,
};
