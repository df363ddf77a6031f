import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { SubmitEvent } from 'react';
import { api, issuesOf } from '../../api.ts';
import { useChange } from '../../changes.ts';
import { domainHealth } from '../../queries.ts';
import { Failed } from '../failed.tsx';
import { ForRole } from '../for_role.tsx';
import { fieldOf } from '../form.ts';
import { Loading } from '../paged.tsx';
import { Refused } from '../refused.tsx';
import { Status } from '../status.tsx';
import { When } from '../when.tsx';
import { FindingList, statusWords } from './findings.tsx';
import { DomainHistory } from './history.tsx';

type Props = { projectId: string; providerId: string };

type Stored = Awaited<ReturnType<typeof api.providers.domainHealth.query>>;

const CheckForm = ({ projectId, providerId, stored }: Props & { stored: Stored }) => {
  const check = useChange(projectId, ['domain'], (form: HTMLFormElement) => {
    const mailFrom = fieldOf(form, 'mail_from_domain').trim();
    return api.providers.checkDomain.mutate({
      projectId,
      providerId,
      dkim_selectors: fieldOf(form, 'dkim_selectors')
        .split(/[\s,]+/)
        .filter(Boolean),
      mail_from_domain: mailFrom === '' ? null : mailFrom,
    });
  });
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    check.mutate(event.currentTarget);
  };
  const issues = issuesOf(check.error);
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <Group align="flex-start" gap="sm">
          <TextInput
            name="dkim_selectors"
            label="DKIM selectors (optional)"
            description="As the email provider issued them. Empty: the usual ones are tried."
            placeholder="s1, s2"
            defaultValue={stored.dkim_selectors.join(', ')}
            error={issues['dkim_selectors']}
            flex={1}
            miw={240}
          />
          <TextInput
            name="mail_from_domain"
            label="MAIL FROM domain (optional)"
            description="If the email provider uses one of your domains for the reverse-path."
            placeholder="bounce.example.com"
            defaultValue={stored.mail_from_domain ?? ''}
            error={issues['mail_from_domain']}
            flex={1}
            miw={240}
          />
        </Group>
        <Group>
          <Button type="submit" variant="default" loading={check.isPending}>
            Check domain
          </Button>
        </Group>
        <Refused error={check.error} fields={['dkim_selectors', 'mail_from_domain']} />
      </Stack>
    </form>
  );
};

const LastCheck = ({ stored: { health, next_check_at } }: { stored: Stored }) => {
  if (!health)
    return (
      <Text size="sm" c="dimmed">
        The domain has not been checked yet. The first check runs within a day.
      </Text>
    );
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Status {...statusWords[health.status]} />
        <Text size="sm" c="dimmed" className="breaks">
          {health.domain}, checked
        </Text>
        <When at={health.checked_at} />
      </Group>
      {next_check_at !== null && (
        <Group gap="xs">
          <Text size="sm" c="dimmed">
            Next check
          </Text>
          <When at={next_check_at} />
        </Group>
      )}
      <FindingList health={health} />
    </Stack>
  );
};

/** What receivers find out about the sender's domain, the records to publish, and what has changed. */
export const DomainHealth = ({ projectId, providerId }: Props) => {
  const stored = useQuery(domainHealth(projectId, providerId));
  if (stored.isPending) return <Loading />;
  if (!stored.data) return <Failed error={stored.error} reset={() => void stored.refetch()} />;
  return (
    <Stack gap="lg">
      <ForRole projectId={projectId} role="editor" to="to check the domain now">
        <CheckForm projectId={projectId} providerId={providerId} stored={stored.data} />
      </ForRole>
      <LastCheck stored={stored.data} />
      <DomainHistory projectId={projectId} providerId={providerId} />
    </Stack>
  );
};
