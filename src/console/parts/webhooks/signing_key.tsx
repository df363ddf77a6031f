import { Alert, Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { SubmitEvent } from 'react';
import { api, issuesOf } from '../../api.ts';
import type { Webhook } from '../../api.ts';
import { useChange } from '../../changes.ts';
import { fieldOf } from '../form.ts';
import { Refused } from '../refused.tsx';
import { When } from '../when.tsx';

type Props = { projectId: string; webhook: Webhook; name: string; isRequired: boolean };

/** The slugs of vendors that sign. The server knows which they are. */
type Slug = Parameters<typeof api.webhooks.removeSigningKey.mutate>[0]['slug'];

const NO_KEY = 'No signing key is set: every post is refused.';
const TOKEN_INSTEAD =
  'No signing key is set: only posts with the webhook token in the URL count (?token=…).';

const KeyIsSet = ({
  projectId,
  webhook,
  at,
}: {
  projectId: string;
  webhook: Webhook;
  at: string;
}) => {
  const [isSure, setIsSure] = useState(false);
  const remove = useChange(projectId, ['webhooks'], () =>
    api.webhooks.removeSigningKey.mutate({ projectId, slug: webhook.slug as Slug }),
  );
  const verb = isSure ? 'Yes, remove key' : 'Remove key';
  return (
    <Stack gap={4}>
      <Group gap={6}>
        <Text size="sm">A signing key is set, since</Text>
        <When at={at} />
        <Button
          size="compact-xs"
          variant={isSure ? 'filled' : 'default'}
          color={isSure ? 'red' : 'gray'}
          loading={remove.isPending}
          onClick={() => (isSure ? remove.mutate(undefined) : setIsSure(true))}
          aria-label={`${verb} of ${webhook.name}`}
        >
          {verb}
        </Button>
      </Group>
      <Refused error={remove.error} />
    </Stack>
  );
};

/** The key that a vendor signs with: set, replaced or removed, and never shown. */
export const SigningKey = ({ projectId, webhook, name, isRequired }: Props) => {
  const at = webhook.signing_key_set_at;
  const set = useChange(projectId, ['webhooks'], (signing_key: string) =>
    api.webhooks.setSigningKey.mutate({ projectId, slug: webhook.slug as Slug, signing_key }),
  );
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = event.currentTarget;
    set.mutate(fieldOf(form, 'signing_key').trim(), { onSuccess: () => form.reset() });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="xs">
        {at === null ? (
          <Alert color="orange">{isRequired ? NO_KEY : TOKEN_INSTEAD}</Alert>
        ) : (
          <KeyIsSet projectId={projectId} webhook={webhook} at={at} />
        )}
        <Group align="flex-end" gap="sm">
          <PasswordInput
            name="signing_key"
            label={name}
            autoComplete="off"
            error={issuesOf(set.error)['signing_key']}
            flex={1}
            miw={200}
          />
          <Button type="submit" variant="default" loading={set.isPending}>
            Set key
          </Button>
        </Group>
        <Refused error={set.error} fields={['signing_key']} />
      </Stack>
    </form>
  );
};
