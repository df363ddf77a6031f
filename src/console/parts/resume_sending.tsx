import { Checkbox, Radio, Stack } from '@mantine/core';
import { useState } from 'react';
import { api } from '../api.ts';
import type { Resumed, Sending } from '../api.ts';
import { useOwnChange } from '../changes.ts';
import { PasswordAgain } from './password_again.tsx';

const SKIP =
  'Sends that waited become unknown and steps that were due expire: nobody gets a mail twice.';
const SEND =
  'As far as its expires_after allows. Some people may get a mail that they have already.';

type Props = {
  why: Sending['why'];
  onClose: () => void;
  onResumed: (resumed: Resumed) => void;
};

/** Asks how sending goes on, and for the password: what it lets out cannot be taken back. */
const ResumeSending = ({ why, onClose, onResumed }: Props) => {
  const [overdue, setOverdue] = useState<'skip' | 'send'>('skip');
  const [isTrusted, setIsTrusted] = useState(false);
  const resume = useOwnChange(['sending', 'installation-audit'], async (password: string) => {
    const failover = isTrusted ? 'trusted' : null;
    onResumed(await api.installation.resumeSending.mutate({ overdue, failover, password }));
  });
  return (
    <PasswordAgain
      title="Resume sending"
      about="Mail leaves the house again, of every project, as soon as you say so."
      label="Resume sending"
      isOpen
      onClose={onClose}
      change={resume}
    >
      <Radio.Group
        label="What was due before"
        value={overdue}
        onChange={(chosen) => setOverdue(chosen === 'send' ? 'send' : 'skip')}
      >
        <Stack gap="xs" mt="xs">
          <Radio value="skip" label="Is not sent" description={SKIP} />
          <Radio value="send" label="Is sent now" description={SEND} />
        </Stack>
      </Radio.Group>
      {why === 'restored' && (
        <Checkbox
          label="A failover to a standby does not hold sending any more"
          description="Only where your standbys never lack what was written last."
          checked={isTrusted}
          onChange={({ currentTarget }) => setIsTrusted(currentTarget.checked)}
        />
      )}
    </PasswordAgain>
  );
};

export default ResumeSending;
