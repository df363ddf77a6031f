import { spellings } from './spelling.ts';

/** What a reply says of its subject, in the languages of `subjects.ts`. */
export const GONE = spellings(`
  unbekannt*|existiert (hier |bei uns )?nicht|nicht (bekannt|vorhanden|gefunden|existent)
  kein (solcher )?(postfach|benutzer|empfänger|nutzer)|keine solche adresse
  gibt es (hier |bei uns )?nicht|ungültige[rsn]? (empfänger*|adresse|mailadresse|postfach)
  inconnue?s?|n'existe (pas|plus)|introuvable|inexistante?|n'est (pas|plus) (valide|connue?|reconnue?)
  aucune? (utilisateur|compte|boîte|destinataire)|pas d(e |')(compte|boîte|utilisateur)|adresse invalide
  sconosciut[oa]|inesistente|non (è )?(esiste|esistente|trovat[oa]|risulta|valid[oa])|nessun (utente|account)
  errat[oa]|desconocid[oa]|inexistente|no (existe|existente|se encuentra|se encontró)
  no (fue )?encontrad[oa]|no (es )?válid[oa]
  dirección (inválida|incorrecta)|desconhecid[oa]
  não (existe|encontrad[oa]|foi encontrad[oa]|localizad[oa]|é válid[oa])
  nie istnieje|nieznan*|nie ma (takiego|takiej)|nie znaleziono|brak (takiego|takiej|użytkownika|konta|skrzynki)
  nieprawidłow* (adres|odbiorc*)|niepoprawn* adres
  onbekende?|bestaat niet|niet (gevonden|bekend|gekend)|geen (gebruiker|postvak|account|mailbox)
  ongeldige? (adres|ontvanger)|neexistuj*|neznám*|není znám*|nenalezen*|nebyl* nalezen*|neplatn* (adres*|příjemc*)
  bulunamadı|bulunmuyor|mevcut değil|yoktur|yok|geçersiz (adres|alıcı|kullanıcı)
  не (найден|существует|известен|зарегистрирован|обнаружен)|неизвест|нет такого|несуществующ|отсутствует
  ne (najden*|nayden*|sush?chestvuet)|net takogo|takogo ... net|neizvest*
  无效的?(收件人|用户|邮箱|地址)|不存在|未找到|找不到|查无此|无此|没有此|無此|无法找到
  存在しません|存在しない|見つかりません|不明
  tidak (ditemukan|ada|dikenal|terdaftar|valid)
`);

export const OFF = spellings(`
  gesperrt|deaktiviert|stillgelegt|gelöscht|abgeschaltet|abgelaufen|geschlossen|blockiert|eingefroren
  désactivée?|suspendue?|bloquée?|fermée?|clôturée?|résiliée?|(est|été|a) expirée?|inactif
  supprimée?|(est|été) archivée?
  disattivat[oa]|disabilitat[oa]|sospes[oa]|bloccat[oa]|chius[oa]|scadut[oa]|cessat[oa]|inattiv[oa]|inutilizzo
  desactivad[oa]|deshabilitad[oa]|suspendid[oa]|bloquead[oa]|cerrad[oa]|cancelad[oa]|expirad[oa]|ha expirado
  caducad[oa]|dad[oa] de baja|inactiv[oa]|eliminad[oa]|falta de uso
  desativad[oa]|suspens[oa]|encerrad[oa]|inativ[oa]|desabilitad[oa]|inatividade
  zablokowan*|wyłączon*|nieaktywn*|zawieszon*|usunięt*|zamknięt*|wygasł*|dezaktywowan*
  geblokkeerd|uitgeschakeld|gedeactiveerd|opgeheven|verlopen|afgesloten|inactief|opgeschort|verwijderd
  zablokován*|zrušen*|deaktivován*|vypnut*|pozastaven*|neaktivn*|smazán*|uzavřen*
  devre dışı*|askıya alın*|kapatıl*|kapalı|engellen*|silin*|pasif|dondurul*
  заблокирован|отключен|удален|приостановлен|неактив|деактивирован|закрыт|zablokirovan*|otklyuchen*|udalen*
  停用|禁用|冻结|凍結|注销|已关闭|被封|锁定|暂停|过期|停止服务|已被删除
  無効|停止|解約|削除されました
  dinonaktifkan|ditangguhkan|diblokir|ditutup|dibekukan
`);

export const FULL = spellings(`
  voll|überfüllt|speicherplatz|speicherkontingent|kein platz
  (quota|kontingent) ... (überschritten|erschöpft|ausgeschöpft)
  pleine?|saturée?|capacité maximale|(quota|espace) ... (dépassée?|atteinte?|insuffisant)
  (dépassé ... |atteint (son|leur) )quota
  pien[oa]|esaurit[oa] ... (spazio|quota)|(quota|spazio) ... (superat[oa]|esaurit[oa]|insufficiente)
  superato ... (quota|spazio)
  llen[oa]|cuota ... (excedida|superada|sobrepasada)|sin espacio|espacio insuficiente
  (superado|excedido|excede) ... (cuota|capacidad|espacio)
  chei[oa]|lotad[oa]|(cota|quota) ... (excedida|ultrapassada)|sem espaço|espaço ... (insuficiente|esgotado)
  pojemno* ... przekrocz*|przepełnion*|pełn[ayeo]|zapełnion*|brak miejsca|przekrocz* ... (pojemno*|limit miejsca|quot*)
  vol|overvol|quotum ... (overschreden|bereikt)|(onvoldoende|geen) ruimte
  plná|plný|přeplněn*|kvóta ... překročena|překročen* kvót*|málo místa
  dolu|dolmuş*|kota* ... (aşıldı|doldu|aşılmış)|kota aşım*|yer yok
  переполнен|превышена квота|квота ... превышен|нет места|недостаточно места|perepolnen*
  已满|已滿|空间不足|容量不足|超出容量|超过容量|配额已满|超出配额
  penuh|一杯|いっぱい|容量 ... (超|不足|オーバー)|容量を?(超|オーバー)
`);

export const OVER_LIMIT = spellings(`
  (limit*|versandlimit|tageslimit|grenze|höchstzahl|kontingent|anzahl) ... (erreicht|überschritten|ausgeschöpft)
  zu viele (nachrichten|mails|e-mails|empfänger)
  (limit*|maximum|höchst*) ... (erreicht|überschritten)
  (zahl|menge) der (e-?mails|mails|nachrichten|empfänger) ... (erreicht|überschritten)
  (limite|plafond|quota|nombre|maximum) ... (atteinte?|dépassée?)
  (atteint|dépassé) ... (limite|plafond|quota|nombre|maximum)
  trop d(e |')(messages|mails|e-mails|courriels|envois)
  (limite|numero|soglia|massimo) ... (superat[oa]|raggiunt[oa])|(superat[oa]|raggiunt[oa]) ... (limite|numero|soglia)
  troppi (messaggi|invii|e-?mail)|troppe e-?mail
  (alcanzó|superó|excedió|excede|supera) ... (límite|cuota|tope|máximo)
  (límite|cuota|tope|máximo) ... (superad[oa]|excedid[oa]|alcanzad[oa])|demasiad[oa]s (mensajes|correos|envíos|emails)
  (superad[oa]|excedid[oa]|alcanzad[oa]) ... (límite|cuota|tope)
  (limite|cota) ... (excedid[oa]|atingid[oa]|ultrapassad[oa])|muit[oa]s (mensagens|e-?mails)
  (excedeu|atingiu|ultrapassou|excedid[oa]) ... (limite|cota)
  (przekrocz*|osiągnię*) ... limit*|limit* ... (przekrocz*|osiągnię*|wyczerpan*)|zbyt (wiele|dużo) (wiadomo*|mail*)
  [a-z]{0,16}limiet ... (bereikt|overschreden)|(bereikt|overschreden) ... [a-z]{0,16}limiet|te veel (berichten|e-?mails)
  (maximaal|maximum|maximale) aantal ... (bereikt|overschreden)
  překročen* ... (limit*|poč*)|limit* ... (překročen*|vyčerpán*)|příliš mnoho (zpráv|e-?mailů)
  (limit*|sınır*) ... (aşıldı|doldu|dolmuş*|ulaşıldı|aşılmış)
  (превы|исчерпа|достиг) ... (лимит|ограничени|количеств)|лимит ... (превы|исчерпа|достиг)
  слишком много (писем|сообщений)|prevyshen* ... limit*
  (超过|超出|达到|超過) ... (限制|上限|限额)|已?达(到)?(上限|限额|限制)|频率(过高|限制)|发送过(多|快)
  (batas|kuota) ... (terlampaui|tercapai|habis)|(melebihi|melampaui) ... (batas|kuota)
  制限を超|上限に達|上限を超|送信制限
`);

export const PERIOD = spellings(`
  täglich*|(pro|je) (tag|stunde)|heute|tageslimit|stündlich*
  quotidiene?|quotidienne|journalière?|par (jour|heure)
  giornalier[oa]|al giorno|orari[oa]|all'ora
  diari[oa]|diári[oa]|por (día|dia|hora)
  dzienn*|na (dzień|godzinę)|godzinn*
  dagelijkse?|per (dag|uur)|daglimiet
  denní*|hodinov*|za (den|hodinu)
  günlük|saatlik
  сут(ки|очн)|день|дневн|час
  每日|每天|每小时|今日|当日
  \\d日|本日|一日
  per (jam|hari)|harian
`);

export const SPAM = spellings(`
  spam*|antispam*|unerwünscht*|als werbung
  indésirables?|pourriel*|indesiderat[oa]|no deseado|correo basura|indesejad[oa]
  niechcian*|antyspam*|ongewenste?|nevyžádan*|istenmeyen
  вирус|病毒|ウイルス|спам|垃圾(邮件|郵件|信)|スパム|迷惑メール|스팸
`);

export const REFUSED = spellings(`
  abgelehnt|abgewiesen|zurückgewiesen|verweigert|eingestuft
  (message|courriel|mail|est|été) refusée?|rejetée?|rifiutat[oa]|respint[oa]
  rechazad[oa]|denegad[oa]|rejeitad[oa]|recusad[oa]|odrzucon*|geweigerd|afgewezen
  odmítnut*|zamítnut*|reddedil*|отклонен|отвергнут|отказано
  拒绝|拒收|退回|被拒|识别为|拒否|判定|ditolak|거부|차단|분류
`);

export const FORBIDDEN = spellings(`
  nicht (erlaubt|gestattet|zulässig|berechtigt|autorisiert|zugelassen|freigegeben)|unzulässig*|gehört nicht
  (non|pas) (autorisée?|permise?|admise?)|interdite?|n'appartient pas
  non (è )?(autorizzat[oa]|consentit[oa]|permess[oa]|ammess[oa])|non appartiene
  no (está |es )?(autorizad[oa]|permitid[oa])|no pertenece
  não (está |é )?(autorizad[oa]|permitid[oa])|não pertence
  nie (jest )?(dozwolon*|należy|zezwol*|uprawnion*|autoryzowan*)|niedozwolon*
  niet (toegestaan|toegelaten|geautoriseerd|gemachtigd)|hoort niet bij
  není (povolen*|oprávněn*)|nepovolen*|nepatří|izin (yok|verilm*)|izniniz yok|yetkiniz yok|ait değil|yasak*
  не (разреш|допуск|принадлеж|соответств)|запрещен
  不一致|不匹配|未授权|无权|不允许|不属于|許可されて|権限がありません|一致しません
`);

export const LISTED = spellings(`
  schwarze[nr]? liste|sperrliste|listes? noires?|lista nera|listas? negras?|czarn* liś*|zwarte lijst
  chern* spis*|černé listin*|kara liste*|blacklist(u|ach)|(einer|une|una|uma|een|na) (blacklist|blocklist)[aeu]?
  черн[а-я]{1,3} спис|黑名单|黑名單|ブラックリスト
`);

/** What a machine is known for. */
export const REPUTATION = spellings(`
  reputation|réputation|reputazione|reputación|reputação|reputatie|reputacj*|reputac*|репутаци|信誉|声誉|評判
`);

export const LOGIN_NEEDED = spellings(`
  melden sie sich|anmeldung erforderlich|authentifizierung erforderlich|(authentifier|identifier) avant
  vous devez vous (authentifier|identifier|connecter)|authentification (requise|nécessaire|obligatoire)
  autenticazione (richiesta|necessaria)|debe autenticarse|autenticación requerida|requiere autenticación
  autenticação (necessária|requerida|exigida)|wymagan* (uwierzytelni*|autoryzacj*|logowani*)
  authenticatie (vereist|verplicht)|vyžadov* ... přihláš*|přihlaste se|kimlik doğrulama* gerek*
  требуется (авторизац|аутентификац)|авторизуйтесь|需要(认证|验证|身份验证|登录)|请先(登录|认证|验证)|認証が必要
`);

export const LOGIN_WRONG = spellings(`
  (passwort|kennwort|anmeldedaten|zugangsdaten) ... (falsch|ungültig*)|falsche[s]? (passwort|kennwort|zugangsdaten)
  ungültige (anmeldedaten|zugangsdaten)|anmeldung fehlgeschlagen|authentifizierung fehlgeschlagen
  (mot de passe|identifiants?) ... (incorrecte?s?|invalides?|erronée?s?)|échec ... authentif*
  (password|credenziali) ... (errat[ae]|non valid[ae])|autenticazione fallita
  contraseña ... (incorrecta|inválida)|autenticación fallida|senha ... (incorreta|inválida)|falha na autenticação
  (nieprawidłow*|błędn*|złe) (hasło|login|dane)|(onjuist|ongeldig) wachtwoord|neplatn* (přihlašovac*|heslo)
  nesprávn* heslo|(hatalı|yanlış) (şifre|parola)|неверн[а-я]{1,3} (логин|пароль|имя)
  ошибка (авторизации|аутентификации)|认证失败|验证失败|密码错误|認証に失敗|パスワードが
`);

export const TOO_LARGE = spellings(`
  zu groß|größe ... überschr*|größenlimit|trop (gros|volumineux|grand|grande|importante)
  taille ... (dépass*|maximale|limite)|troppo grande|supera ... dimension*|dimension* ... (superat[ae]|massim[ae])
  demasiado grande|tamaño ... (excede|máximo|supera*)|excede ... tamaño|muito grande
  tamanho ... (máximo|excede*)|excede ... tamanho|za duż[yae]|rozmiar ... przekracza|przekracza ... rozmiar
  te groot|příliš velk*|velikost ... překra*|çok büyük|boyut* ... (aşıyor|aştı|aşıldı)
  размер ... превыша|слишком большо|大小超|过大|超过大小|太大|サイズ ... 超|大きすぎ
`);

export const PASSING = spellings(`
  vorübergehend|später|zeitweilig|temporaires?|temporairement|plus tard|réessay*|temporane*|più tardi|riprova*
  temporalmente|más tarde|intente|reintente|temporariamente|mais tarde|tente novamente|tymczasow*|później
  tijdelijk|opnieuw|dočasn*|později|geçici*|daha sonra|tekrar dene*|временно|позже|повторите|vremenno
  稍后|稍後|暂时|一時的|しばらく|後ほど
`);

export const RELAYING = spellings(`
  weiterleit*|relay*|relais|relayage|inoltro|reenvío|retransmisi*|encaminhamento|przekazywan*|doorsturen|doorzend*
  předáván*|aktarma*|ретрансляц|пересылк|转发|轉發|中继|中継
`);

/** That it was the recipient who refused. */
export const BY_RECIPIENT = spellings(`
  (vom|durch den) (empfänger|adressaten)|par (le|la) destinataire|dal destinatario|por el destinatario
  pel[oa] destinatári[oa]|przez (odbiorcę|adresata)|door de (ontvanger|geadresseerde)|alıcı tarafından|получателем
  收件人(拒收|拒绝)|受信者(により|によって)
`);
