import { Anchor, Button, Group, Paper, SimpleGrid, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { Provider } from '../api.ts';
import { Empty } from '../parts/empty.tsx';
import { ForRole } from '../parts/for_role.tsx';
import { Paged } from '../parts/paged.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { kinds } from '../parts/provider_fields.ts';
import { ProviderState, ProviderStatus } from '../parts/provider_state.tsx';
import { providers } from '../queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/settings/providers');

const Add = ({ projectId }: { projectId: string }) => (
  <Button
    renderRoot={(props) => (
      <Link {...props} to="/p/$projectId/settings/providers/new" params={{ projectId }} />
    )}
  >
    Add provider
  </Button>
);

const Card = ({ provider, projectId }: { provider: Provider; projectId: string }) => (
  <Paper withBorder p="md" component="li">
    <Stack gap="sm">
      <Group justify="space-between" align="flex-start">
        <Stack gap={2} className="breaks">
          <Anchor
            fw={600}
            className="breaks"
            renderRoot={(props) => (
              <Link
                {...props}
                to="/p/$projectId/settings/providers/$providerId"
                params={{ projectId, providerId: provider.id }}
              />
            )}
          >
            {provider.display_name}
          </Anchor>
          <Text size="sm" c="dimmed" className="breaks">
            {provider.from_email} · {kinds[provider.provider].word}
          </Text>
        </Stack>
        <ProviderStatus provider={provider} />
      </Group>
      <ProviderState provider={provider} />
    </Stack>
  </Paper>
);

const NoProvider = ({ projectId }: { projectId: string }) => (
  <Empty title="No provider is connected yet">
    <Stack align="flex-start">
      Mail leaves through an account of your own: any SMTP relay, SMTP2GO or Amazon SES. Connect one
      with the address that your mail comes from; it is tried before it is kept.
      <ForRole projectId={projectId} role="editor" to="to connect one">
        <Add projectId={projectId} />
      </ForRole>
    </Stack>
  </Empty>
);

export const ProvidersPage = () => {
  const { projectId } = route.useParams();
  const list = useInfiniteQuery(providers(projectId));
  const isEmpty = list.data?.pages[0]?.items.length === 0;
  return (
    <Stack>
      <Group justify="space-between" align="flex-end">
        <PageTitle title="Email providers" note="Through whom this project sends, per sender." />
        {!isEmpty && (
          <ForRole projectId={projectId} role="editor" to="to add one">
            <Add projectId={projectId} />
          </ForRole>
        )}
      </Group>
      <Paged list={list} empty={<NoProvider projectId={projectId} />}>
        {(items) => (
          <SimpleGrid component="ul" cols={{ base: 1, lg: 2 }} m={0} p={0}>
            {items.map((one) => (
              <Card key={one.id} provider={one} projectId={projectId} />
            ))}
          </SimpleGrid>
        )}
      </Paged>
    </Stack>
  );
};
