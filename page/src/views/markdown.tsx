// Renders Markdown of models and users as elements of the page; see model/markdown.ts for what is recognized. Headings are paragraphs, so
// that the outline of the page stays its own.

import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { type Block, type ListItem, markdownOf } from '../model/markdown.ts'
import type { Inline } from '../model/markdown-inline.ts'
import { Shortened } from './elements.tsx'

/** A text with Markdown, shortened until it is expanded. */
export function Markdown({ text, limit, label }: { text: string; limit?: number; label: string }) {
  return (
    <Shortened text={text} label={label} {...(limit === undefined ? {} : { limit })}>
      {(shown) => <MarkdownText text={shown} />}
    </Shortened>
  )
}

/** All of a text with Markdown. */
export function MarkdownText({ text }: { text: string }) {
  const blocks = useMemo(() => markdownOf(text), [text])
  return <div class="markdown">{blocks === null ? <p class="text">{text}</p> : blocks.map(blockView)}</div>
}

function blockView(block: Block, key: number): ComponentChildren {
  switch (block.kind) {
    case 'paragraph':
      return <p key={key}>{block.content.map(inlineView)}</p>
    case 'heading':
      return (
        <p key={key} class={`heading heading-${block.level}`}>
          {block.content.map(inlineView)}
        </p>
      )
    case 'code':
      return (
        <pre key={key} tabIndex={0}>
          <code>{block.text}</code>
        </pre>
      )
    case 'quote':
      return <blockquote key={key}>{block.blocks.map(blockView)}</blockquote>
    case 'list':
      return block.start === null ? (
        <ul key={key}>{block.items.map(itemView)}</ul>
      ) : (
        <ol key={key} start={block.start}>
          {block.items.map(itemView)}
        </ol>
      )
    case 'table':
      return <TableView key={key} {...block} />
    case 'rule':
      return <hr key={key} />
  }
}

function itemView({ checked, blocks }: ListItem, key: number): ComponentChildren {
  return (
    <li key={key} class={checked === null ? '' : 'checkable'}>
      {checked === null ? null : (
        <span class="checkmark" role="img" aria-label={checked ? 'done' : 'to do'}>
          {checked ? '☑' : '☐'}
        </span>
      )}
      {blocks.map(blockView)}
    </li>
  )
}

function TableView({ head, rows }: { head: Inline[][]; rows: Inline[][][] }) {
  return (
    <div class="scroll-x" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th key={String(index)} scope="col">
                {cell.map(inlineView)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={String(index)}>
              {row.map((cell, column) => (
                <td key={String(column)}>{cell.map(inlineView)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function inlineView(inline: Inline, key: number): ComponentChildren {
  switch (inline.kind) {
    case 'text':
      return inline.text
    case 'code':
      return <code key={key}>{inline.text}</code>
    case 'link':
      return (
        <a key={key} href={inline.href} title={inline.href} target="_blank" rel="noopener noreferrer nofollow">
          {inline.content.map(inlineView)}
        </a>
      )
    default: {
      const Tag = inline.kind
      return <Tag key={key}>{inline.content.map(inlineView)}</Tag>
    }
  }
}
