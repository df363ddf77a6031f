import { Button, Group, Stack, Tabs, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { SubmitEvent } from 'react';
import { AddAddress } from '../parts/add_address.tsx';
import { AddressList } from '../parts/address_list.tsx';
import { Empty } from '../parts/empty.tsx';
import { ForRole } from '../parts/for_role.tsx';
import { fieldOf } from '../parts/form.ts';
import { ImportList } from '../parts/import_list.tsx';
import { PageTitle } from '../parts/page_title.tsx';
import { Paged } from '../parts/paged.tsx';
import { suppressions, unsubscribes } from '../queries.ts';
import type { AddressFilter } from '../queries.ts';

const route = getRouteApi('/signed-in/p/$projectId/suppressions');

const Search = ({
  email,
  onSearch,
}: {
  email: string;
  onSearch: (email: string | undefined) => void;
}) => {
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const typed = fieldOf(event.currentTarget, 'email').trim();
    onSearch(typed === '' ? undefined : typed);
  };
  return (
    <form role="search" onSubmit={submit}>
      <Group align="flex-end" gap="sm" wrap="nowrap">
        <TextInput
          key={email}
          name="email"
          type="search"
          label="Address"
          placeholder="ann@example.com"
          defaultValue={email}
          flex={1}
        />
        <Button type="submit" variant="default">
          Search
        </Button>
      </Group>
    </form>
  );
};

type ListProps = { projectId: string; filter: AddressFilter };

const NotFound = () => (
  <Empty title="This address is not on the list">
    Addresses must be complete, in whatever case. An address is found also after its person was
    erased.
  </Empty>
);

const Suppressed = ({ projectId, filter }: ListProps) => {
  const list = useInfiniteQuery(suppressions(projectId, filter));
  const nobody = (
    <Empty title="Nobody is suppressed">
      Hard bounces and complaints that your provider reports to this project’s webhook put addresses
      here by themselves.
    </Empty>
  );
  return (
    <Paged list={list} empty={filter.email === undefined ? nobody : <NotFound />}>
      {(items) => (
        <AddressList
          projectId={projectId}
          items={items.map(({ created_at, ...item }) => ({ ...item, since: created_at }))}
        />
      )}
    </Paged>
  );
};

const Unsubscribed = ({ projectId, filter }: ListProps) => {
  const list = useInfiniteQuery(unsubscribes(projectId, filter));
  const nobody = (
    <Empty title="Nobody has unsubscribed">
      Every marketing mail carries a link. Whoever presses it is listed here, and gets no more of
      that mail.
    </Empty>
  );
  return (
    <Paged list={list} empty={filter.email === undefined ? nobody : <NotFound />}>
      {(items) => (
        <AddressList
          projectId={projectId}
          items={items.map(({ unsubscribed_at, ...item }) => ({ ...item, since: unsubscribed_at }))}
        />
      )}
    </Paged>
  );
};

const Tools = ({ projectId }: { projectId: string }) => {
  const [isAdding, adding] = useDisclosure();
  const [isImporting, importing] = useDisclosure();
  return (
    <Group gap="sm">
      <Button onClick={adding.open}>Add address</Button>
      <Button variant="default" onClick={importing.open}>
        Import a list
      </Button>
      <AddAddress projectId={projectId} isOpen={isAdding} onClose={adding.close} />
      <ImportList projectId={projectId} isOpen={isImporting} onClose={importing.close} />
    </Group>
  );
};

export const SuppressionsPage = () => {
  const { projectId } = route.useParams();
  const { list, email } = route.useSearch();
  const navigate = route.useNavigate();
  const filter = email === undefined ? {} : { email };
  return (
    <Stack>
      <Group justify="space-between" align="flex-end">
        <PageTitle
          title="Suppressions"
          note="Addresses that must be left alone: by every mail, or by marketing mail only."
        />
        <ForRole projectId={projectId} role="editor" to="to add addresses">
          <Tools projectId={projectId} />
        </ForRole>
      </Group>
      <Search
        email={email ?? ''}
        onSearch={(searched) => void navigate({ search: { list, email: searched } })}
      />
      <Tabs
        value={list ?? 'suppressed'}
        onChange={(chosen) =>
          void navigate({
            search: { list: chosen === 'unsubscribed' ? chosen : undefined, email },
          })
        }
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="suppressed">Suppressed</Tabs.Tab>
          <Tabs.Tab value="unsubscribed">Unsubscribed</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="suppressed">
          <Suppressed projectId={projectId} filter={filter} />
        </Tabs.Panel>
        <Tabs.Panel value="unsubscribed">
          <Unsubscribed projectId={projectId} filter={filter} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
};
