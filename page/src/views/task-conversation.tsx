// The conversation of a task: messages, calls and unfinished messages.

import { useEffect, useRef, useState } from 'preact/hooks'
import { conversationLines, type Line } from '../model/conversation.ts'
import { clockTime, duration } from '../model/format.ts'
import type { Call, Message } from '../model/wire.ts'
import { LongText } from './elements.tsx'
import { JsonTree } from './json-tree.tsx'

interface ConversationProps {
  messages: Message[]
  calls: Call[]
  live: ReadonlyMap<string, { text: string; gap: boolean }>
}

const nearTheEnd = 40
const maxLines = 200

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
  if (lines.length === 0) return <p class="note">There are no messages.</p>
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
    return (
      <div class="said assistant live" aria-busy="true">
        <div class="who-says">assistant, now{line.gap ? ' (its beginning is left out)' : ''}</div>
        <div class="text">{line.text}</div>
      </div>
    )
  }
  const { role, content, timestamp, announcement } = line.message
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
      <LongText text={content} label={`${role} message`} limit={2_000} />
    </div>
  )
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
        <code>{call.name}</code> <span class="note">{call.status.replace('_', ' ')}</span>{' '}
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
