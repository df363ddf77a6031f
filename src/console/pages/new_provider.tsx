import { Radio, SimpleGrid, Stack, Text } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../api.ts';
import { useChange } from '../changes.ts';
import { Back } from '../parts/back.tsx';
import { ForRole } from '../parts/for_role.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { kinds, toGiven } from '../parts/provider_fields.ts';
import type { Kind, Typed } from '../parts/provider_fields.ts';
import { ProviderForm } from '../parts/provider_form.tsx';

const route = getRouteApi('/signed-in/p/$projectId/settings/providers/new');

type Given = Parameters<typeof api.providers.add.mutate>[0]['provider'];

const KindChoice = ({ kind, onChoose }: { kind: Kind; onChoose: (kind: Kind) => void }) => (
  <Radio.Group
    label="How it is reached"
    value={kind}
    onChange={(chosen) => onChoose(chosen as Kind)}
  >
    <SimpleGrid cols={{ base: 1, sm: 3 }} mt="xs">
      {(Object.keys(kinds) as Kind[]).map((one) => (
        <Radio.Card key={one} value={one} p="md" aria-label={kinds[one].word}>
          <Stack gap={2}>
            <Text fw={600} component="div">
              <Radio.Indicator
                mr="xs"
                style={{ display: 'inline-flex', verticalAlign: 'middle' }}
              />
              {kinds[one].word}
            </Text>
            <Text size="sm" c="dimmed">
              {kinds[one].about}
            </Text>
          </Stack>
        </Radio.Card>
      ))}
    </SimpleGrid>
  </Radio.Group>
);

export const NewProviderPage = () => {
  const { projectId } = route.useParams();
  const navigate = useNavigate();
  const [kind, setKind] = useState<Kind>('smtp');
  const [typed, setTyped] = useState<Typed>({ smtp_port: '587', smtp_secure: 'starttls' });
  const add = useChange(projectId, ['providers'], (given: Given) =>
    api.providers.add.mutate({ projectId, provider: given }),
  );
  const submit = (): void =>
    add.mutate({ provider: kind, ...toGiven(kind, typed) } as Given, {
      onSuccess: ({ id }) =>
        void navigate({
          to: '/p/$projectId/settings/providers/$providerId',
          params: { projectId, providerId: id },
        }),
    });
  return (
    <Stack maw={900}>
      <Back to="/p/$projectId/settings/providers" projectId={projectId} label="Email providers" />
      <PageTitle
        title="Add provider"
        note="It is connected to and tried before anything is kept. Amazon SES gets a real mail to its own simulator."
      />
      <ForRole projectId={projectId} role="editor" to="to add one">
        <KindChoice
          kind={kind}
          onChoose={(chosen) => {
            setKind(chosen);
            add.reset();
          }}
        />
        <ProviderForm
          kind={kind}
          typed={typed}
          onType={(name, value) => setTyped((before) => ({ ...before, [name]: value }))}
          onSubmit={submit}
          label="Try and save"
          isPending={add.isPending}
          error={add.error}
        />
      </ForRole>
    </Stack>
  );
};
