// Bounce mailboxes on an IMAP server that we did not write: `make test-imap`.
import { hasDovecot } from './dovecot/dovecot.ts';
import { testWithPackage } from './of_package.ts';

const debianPackage = 'dovecot-imapd';
process.exitCode = testWithPackage('test/dovecot', {
  name: 'Dovecot',
  isHere: hasDovecot,
  debianPackage,
});
