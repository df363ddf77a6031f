import { spellings } from './spelling.ts';

/**
 * The subjects of a reply, in German, French, Italian, Spanish, Portuguese, Polish, Dutch, Czech,
 * Turkish, Russian, Chinese, Japanese and Indonesian, one line each; of Russian also in Latin letters.
 */
export const RECIPIENT = spellings(`
  empfänger*|postfach*|postfächer*|posteingang
  destinataires?|boîtes?|messagerie
  destinatari[oa]?|casell[ae]
  destinatari[oa]s?|buzón|buzon|casilla
  destinatário|destinatária|caixa
  odbiorc*|adresat*|skrzynk*
  ontvangers?|geadresseerde|postvak|postbus
  příjemc*|adresát*|schránk*
  alıcı*|posta kutu*|kutu*
  получател|адресат|ящик|poluchatel*|adresat*|yasch?ik*|jaschik*
  收件人|收件者|收信人|此人|邮箱|郵箱|信箱
  宛先|受信者|メールボックス
  penerima|kotak (surat|masuk|pos)
`);

/** Words for an account or an address, of a sender or a recipient. */
export const PERSON = spellings(`
  benutzer*|nutzer|konto|kontos|mail ?adresse|adresse(?! ip)|teilnehmer
  utilisateur|compte|adresse(?! ip)|usager|abonné
  utente|account|indirizzo(?! ip)|utenza
  usuario|cuenta|dirección(?! ip)
  usuário|utilizador|conta|endereço(?! ip)
  użytkownik*|kont[aou]|adres[aueom]{0,2}(?! ip)
  gebruikers?|adres(?! ip)
  uživatel*|účet|účtu|adresa(?! ip)
  kullanıcı*|hesap|hesab*|adres*
  пользовател|адрес(?!ат)|аккаунт|учетная запись|polzovatel*
  用户|用戶|帐号|账号|帳號|账户|帐户|地址
  ユーザ|アドレス|アカウント
  pengguna|akun|alamat(?! ip)
`);

export const SENDER = spellings(`
  absender*
  expéditeur|émetteur
  mittente
  remitente|emisor
  remetente
  nadawc*
  afzenders?
  odesílatel*
  gönderen*|gönderici*
  отправител|otpravitel*
  发件人|發件人|寄件人|寄件者|发信人
  差出人|送信者|送信元
  pengirim
`);

/** What is said to the one who sends. */
export const OWN = spellings(`
  ihr|ihre[mnrs]?|dein|deine[mnrs]?
  votre|vos
  tuo|tua|vostr[oa]|il suo account
  su cuenta|tu cuenta|usted|sus (envíos|mensajes|correos)
  sua conta|tua conta|você
  twoj*|twój|państwa
  uw|jouw|je
  váš|vaš*
  hesabınız*|hesabiniz*
  ваш
  您|你的|贵
  お客様|あなた
`);

/** What an account does, unlike a mailbox that email is for. */
export const SENDING = spellings(`
  versand|versenden?|ausgehende*|sende ?limit|versandlimit|verschick*
  envois?|envoyer|sortants?|l'envoi|d'envois?
  invio|invii|inviare|inviat[ie]|inviabil*|in uscita|spedizion*
  envíos?|enviar|salientes?
  envios?|enviar|saída
  wysył*|wychodząc*|nadawani*
  verzend*|verstur*|uitgaande?
  odesíl*|odesl*|odchozí*
  gönderim*|gönderme*|giden
  отправк|отправля|исходящ|рассыл|otpravk*
  发送|發送|发信|外发
  送信(?!者|元)|発信
  pengiriman|mengirim|email keluar
`);

/** The address of the machine that connects. */
export const IP = spellings(`
  ip adress*|ip ?adres*|adresse ip|indirizzo ip|dirección ip|endereço ip|adres ip
  ip адрес|айпи|ip地址|ipアドレス|ip
`);

/** The machine that connects. */
export const SERVER = spellings(`
  ip adresse?n?|(ihr|der|dem|dieser) server
  adresse ip|serveur
  indirizzo ip|il (tuo |suo |vostro )?server
  servidor|dirección ip
  endereço ip|servidor
  serwer*|adres ip
  ip adres
  ip adres[ay]
  sunucu*|ip adresi*
  сервер|ip адрес|ip-адрес
  服务器|伺服器
  サーバ
`);

export const MESSAGE = spellings(`
  nachricht*|inhalt
  courriel|courrier|contenu
  messaggio|contenuto
  mensaje|correo|contenido
  mensagem|conteúdo
  wiadomość|wiadomosc|wiadomości|treść
  bericht|inhoud
  zpráv*|obsah
  mesaj*|ileti*|e-posta
  письмо|сообщени|содержим|pismo
  邮件|郵件|内容
  メール(?!ボ|ア)|メッセージ|本文
`);
