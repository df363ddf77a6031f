import { Group, Paper, SimpleGrid, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Provider } from '../api.ts';
import { ForRole } from '../parts/for_role.tsx';
import { ListPage, NewButton, None } from '../parts/list_page.tsx';
import { ProviderLink } from '../parts/object_links.tsx';
import { kinds } from '../parts/provider_fields.ts';
import { ProviderState, ProviderStatus } from '../parts/provider_state.tsx';
import { providers } from '../queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/settings/providers');

const Card = ({ provider, projectId }: { provider: Provider; projectId: string }) => (
  <Paper withBorder p="md" component="li">
    <Stack gap="sm">
      <Group justify="space-between" align="flex-start">
        <Stack gap={2} className="breaks">
          <ProviderLink
            projectId={projectId}
            providerId={provider.id}
            size="md"
            fw={600}
            className="breaks"
          >
            {provider.display_name}
          </ProviderLink>
          <Text size="sm" c="dimmed" className="breaks">
            {provider.from_email} · {kinds[provider.provider].word}
          </Text>
        </Stack>
        <ProviderStatus provider={provider} projectId={projectId} />
      </Group>
      <ProviderState provider={provider} projectId={projectId} />
    </Stack>
  </Paper>
);

export const ProvidersPage = () => {
  const { projectId } = route.useParams();
  const list = useInfiniteQuery(providers(projectId));
  const add = (
    <ForRole projectId={projectId} role="editor" to="to add one">
      <NewButton
        projectId={projectId}
        to="/p/$projectId/settings/providers/new"
        label="Add provider"
      />
    </ForRole>
  );
  const none = (
    <None title="No provider is connected yet" action={add}>
      Mail leaves through an account of your own: any SMTP relay, SMTP2GO or Amazon SES. Connect one
      with the address that your mail comes from; it is tried before it is kept.
    </None>
  );
  return (
    <ListPage
      title="Email providers"
      note="Through whom this project sends, per sender."
      list={list}
      action={add}
      empty={none}
    >
      {(items) => (
        <SimpleGrid component="ul" cols={{ base: 1, lg: 2 }} m={0} p={0}>
          {items.map((one) => (
            <Card key={one.id} provider={one} projectId={projectId} />
          ))}
        </SimpleGrid>
      )}
    </ListPage>
  );
};
