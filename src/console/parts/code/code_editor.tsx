import { useComputedColorScheme } from '@mantine/core';
import CodeMirror, { Decoration, EditorView, StateField } from '@uiw/react-codemirror';
import type { Extension } from '@uiw/react-codemirror';
import { html } from '@codemirror/lang-html';
import { json } from '@codemirror/lang-json';
import { useMemo } from 'react';
import { nonce } from '../../nonce.ts';

const languages = { json: () => json(), html: () => html() };

/** Styles of the editor are allowed by the page's nonce, as its own are. */
const inPolicy = EditorView.cspNonce.of(nonce);

const look = EditorView.theme({
  '&': {
    fontSize: '13px',
    border: '1px solid var(--mantine-color-default-border)',
    borderRadius: 'var(--mantine-radius-default)',
    overflow: 'hidden',
  },
  '.cm-content, .cm-gutters': { fontFamily: 'ui-monospace, Menlo, Consolas, monospace' },
  '.cm-line-wrong': {
    backgroundColor: 'color-mix(in srgb, var(--mantine-color-red-6) 18%, transparent)',
  },
  '&.cm-focused': { outline: '2px solid var(--mantine-primary-color-filled)' },
});

/** Darker than a dark page, so that every colour of the text can be read on it. */
const dark = EditorView.baseTheme({
  '&dark.cm-editor, &dark.cm-editor .cm-gutters': {
    backgroundColor: 'var(--mantine-color-dark-9)',
  },
});

/** As high as this with nothing in it, numbers and all. */
const atLeast = (minHeight: string): Extension =>
  EditorView.theme({ '.cm-content, .cm-gutter': { minHeight } });

/** Marks lines, counted from 1. */
const marking = (lines: readonly number[]): Extension => {
  const mark = Decoration.line({ class: 'cm-line-wrong' });
  return StateField.define({
    create: ({ doc }) =>
      Decoration.set(
        [...new Set(lines)]
          .filter((line) => line >= 1 && line <= doc.lines)
          .toSorted((left, right) => left - right)
          .map((line) => mark.range(doc.line(line).from)),
      ),
    update: (marks, { changes }) => marks.map(changes),
    provide: (field) => EditorView.decorations.from(field),
  });
};

type Props = {
  label: string;
  language: keyof typeof languages;
  value: string;
  onChange: (value: string) => void;
  minHeight?: string;
  maxHeight?: string;
  /** Which lines are wrong, counted from 1. */
  wrongLines?: readonly number[];
};

/** An editor for code. Tab leaves it, as every field: whoever works by the keyboard must get out. */
const CodeEditor = (props: Props) => {
  const { label, language, value, onChange, minHeight = '240px', maxHeight = '60vh' } = props;
  const { wrongLines = [] } = props;
  const scheme = useComputedColorScheme('light');
  const key = wrongLines.join();
  const extensions = useMemo(
    () => [
      inPolicy,
      look,
      atLeast(minHeight),
      dark,
      languages[language](),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
      marking(key === '' ? [] : key.split(',').map(Number)),
    ],
    [language, label, key, minHeight],
  );
  return (
    <CodeMirror
      value={value}
      onChange={onChange}
      extensions={extensions}
      theme={scheme}
      indentWithTab={false}
      maxHeight={maxHeight}
      basicSetup={{ highlightActiveLine: false }}
    />
  );
};

export default CodeEditor;
