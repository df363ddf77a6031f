import { Button, Group, Modal, PasswordInput, Stack, Text } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import type { ReactNode, SubmitEvent } from 'react';
import { isRefused } from '../api.ts';
import { fieldOf } from './form.ts';
import { Refused } from './refused.tsx';

type Props = {
  title: string;
  /** What is about to be done, and what follows from it. */
  about: string;
  label: string;
  /** What else is to be said. */
  children?: ReactNode;
  isOpen: boolean;
  onClose: () => void;
  change: Pick<
    UseMutationResult<unknown, unknown, string>,
    'mutate' | 'isPending' | 'error' | 'reset'
  >;
};

/** The password once more: a page that somebody left open is not enough for what is dangerous. */
export const PasswordAgain = ({
  title,
  about,
  label,
  children,
  isOpen,
  onClose,
  change,
}: Props) => {
  const close = (): void => {
    change.reset();
    onClose();
  };
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    change.mutate(fieldOf(event.currentTarget, 'password'), { onSuccess: onClose });
  };
  const isWrong = isRefused(change.error, 'wrong_password');
  return (
    <Modal opened={isOpen} onClose={close} title={title}>
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">{about}</Text>
          {children}
          <PasswordInput
            name="password"
            label="Your password"
            autoComplete="current-password"
            error={isWrong ? 'This is not your password.' : undefined}
            data-autofocus
            required
            withAsterisk={false}
          />
          {!isWrong && <Refused error={change.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" color="red" loading={change.isPending}>
              {label}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
};
