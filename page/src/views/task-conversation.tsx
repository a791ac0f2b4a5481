// The conversation of a task: messages, calls and unfinished messages.

import { useEffect, useRef, useState } from 'preact/hooks'
import { conversationLines, type Line, liveOutputId } from '../model/conversation.ts'
import { clipped, clockTime, duration } from '../model/format.ts'
import { paramsText } from '../model/params-text.ts'
import type { Call, Message } from '../model/wire.ts'
import { LongText } from './elements.tsx'
import { JsonTree } from './json-tree.tsx'
import { Markdown, MarkdownText } from './markdown.tsx'

interface ConversationProps {
  messages: Message[]
  calls: Call[]
  live: ReadonlyMap<string, { text: string; gap: boolean }>
}

const nearTheEnd = 40
const maxLines = 200
/** Longer unfinished messages are plain text, because they are read again with every chunk. In UTF-16 units. */
const maxLiveMarkdown = 20_000

export function Conversation({ messages, calls, live }: ConversationProps) {
  const lines = conversationLines(messages, calls, live)
  const [limit, setLimit] = useState(maxLines)
  const list = useRef<HTMLDivElement>(null)
  const atEnd = useRef(true)
  // Scrolls along only if the end is visible.
  useEffect(() => {
    const node = list.current
    if (node !== null && atEnd.current) node.scrollTop = node.scrollHeight
  })
  return (
    <div
      class="conversation"
      ref={list}
      role="log"
      aria-label="Conversation"
      aria-live="off"
      tabIndex={0}
      onScroll={({ currentTarget: node }) => {
        atEnd.current = node.scrollTop + node.clientHeight > node.scrollHeight - nearTheEnd
      }}
    >
      {lines.length > limit ? (
        <button type="button" onClick={() => setLimit(limit + maxLines)}>
          Show earlier ({lines.length - limit})
        </button>
      ) : null}
      {lines.slice(-limit).map((line) => (
        <LineOf key={line.id} line={line} />
      ))}
    </div>
  )
}

function LineOf({ line }: { line: Line }) {
  if (line.kind === 'calls') {
    return (
      <div class="said calls">
        {line.calls.map((call) => (
          <CallView key={call.id} call={call} />
        ))}
      </div>
    )
  }
  if (line.kind === 'live') {
    const isOutput = line.id === liveOutputId
    return (
      <div class="said assistant live" aria-busy="true">
        <div class="who-says">assistant, now{line.gap ? ' (its beginning is left out)' : ''}</div>
        {isOutput || line.text.length > maxLiveMarkdown ? (
          <div class="text">{line.text}</div>
        ) : (
          <MarkdownText text={line.text} />
        )}
      </div>
    )
  }
  const { role, content, timestamp, announcement, reasoning } = line.message
  if (announcement) {
    return (
      <div class="said announcement">
        <LongText text={content} label="notice" /> <time>{clockTime(timestamp)}</time>
      </div>
    )
  }
  return (
    <div class={`said ${role}`}>
      <div class="who-says">
        {role} <time dateTime={new Date(timestamp).toISOString()}>{clockTime(timestamp)}</time>
      </div>
      {reasoning === undefined ? null : (
        <details class="reasoning">
          <summary>Reasoning</summary>
          <Markdown text={reasoning} label="reasoning" limit={2_000} />
        </details>
      )}
      <MessageText role={role} content={content} />
    </div>
  )
}

/** The output of tools is data, not Markdown. */
function MessageText({ role, content }: Pick<Message, 'role' | 'content'>) {
  const text = { text: content, label: `${role} message`, limit: 2_000 }
  return role === 'tool' ? <LongText {...text} /> : <Markdown {...text} />
}

const callGlyphs: Record<Call['status'], string> = { pending: '○', in_progress: '▶', completed: '✓', failed: '✕' }

function CallView({ call }: { call: Call }) {
  const over = call.status === 'completed' || call.status === 'failed'
  return (
    <details class={`call is-${call.status}`}>
      <summary>
        <span class="glyph" aria-hidden="true">
          {callGlyphs[call.status]}
        </span>{' '}
        <code>{call.name}</code> {clipped(paramsText(call.params), 80)} <span class="note">{call.status}</span>{' '}
        <span class="note">
          {over ? duration(call.updatedAt - call.createdAt) : ''} {clockTime(call.createdAt)}
        </span>
      </summary>
      <h3>Parameters</h3>
      <JsonTree value={call.params} label="parameters" />
      {call.error === null ? null : (
        <>
          <h3>Error</h3>
          <JsonTree value={call.error} label="error" />
        </>
      )}
      {call.status === 'completed' ? (
        <>
          <h3>Result</h3>
          <JsonTree value={call.result} label="result" />
        </>
      ) : null}
    </details>
  )
}
