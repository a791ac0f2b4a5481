// The conversation of a task: messages, calls and unfinished messages.

import { useState } from 'preact/hooks'
import type { StartOf } from '../model/call-starts.ts'
import { conversationLines, type Line } from '../model/conversation.ts'
import { clipped, clockTime, duration, tokensText } from '../model/format.ts'
import { paramsText } from '../model/params-text.ts'
import type { Call, Message } from '../model/wire.ts'
import { LongText, useFollowedEnd } from './elements.tsx'
import { JsonTree } from './json-tree.tsx'
import { Markdown, MarkdownText } from './markdown.tsx'

interface ConversationProps {
  messages: Message[]
  calls: Call[]
  startOf: StartOf
  live: ReadonlyMap<string, { text: string; gap: boolean }>
}

const maxLines = 200
/** Longer unfinished messages are plain text, because they are read again with every chunk. In UTF-16 units. */
const maxLiveMarkdown = 20_000

export function Conversation({ messages, calls, startOf, live }: ConversationProps) {
  const lines = conversationLines(messages, calls, live)
  const [limit, setLimit] = useState(maxLines)
  const box = useFollowedEnd()
  return (
    <div class="conversation" role="log" aria-label="Conversation" aria-live="off" tabIndex={0} {...box}>
      {lines.length > limit ? (
        <button type="button" onClick={() => setLimit(limit + maxLines)}>
          Show earlier ({lines.length - limit})
        </button>
      ) : null}
      {lines.slice(-limit).map((line) => (
        <LineOf key={line.id} line={line} startOf={startOf} />
      ))}
    </div>
  )
}

function LineOf({ line, startOf }: { line: Line; startOf: StartOf }) {
  if (line.kind === 'calls') {
    return (
      <div class="said calls">
        {line.calls.map((call) => (
          <CallView key={call.id} call={call} startedAt={startOf(call)} />
        ))}
      </div>
    )
  }
  if (line.kind === 'live') {
    return (
      <div class="said assistant live" aria-busy="true">
        <div class="who-says">assistant, now{line.gap ? ' (its beginning is left out)' : ''}</div>
        {line.text.length > maxLiveMarkdown ? <div class="text">{line.text}</div> : <MarkdownText text={line.text} />}
      </div>
    )
  }
  const { role, content, timestamp, announcement, reasoning, step } = line.message
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
        {role} <time dateTime={new Date(timestamp).toISOString()}>{clockTime(timestamp)}</time>{' '}
        {step === undefined ? null : <span class="step">{stepText(step)}</span>}
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

/** `m, 1s 200ms, 36 tokens in, 24 out` */
function stepText({ modelId, tookMs, usage }: NonNullable<Message['step']>): string {
  const took = tookMs === undefined ? '' : duration(tookMs)
  return [modelId, took, tokensText(usage)].filter((part) => part !== '').join(', ')
}

/** The output of tools is data, not Markdown. */
function MessageText({ role, content }: Pick<Message, 'role' | 'content'>) {
  const text = { text: content, label: `${role} message`, limit: 2_000 }
  return role === 'tool' ? <LongText {...text} /> : <Markdown {...text} />
}

const callGlyphs: Record<Call['status'], string> = { pending: '○', in_progress: '▶', completed: '✓', failed: '✕' }

/** Waits that are shorter are between the recording of a call and its start. */
const minWaitMs = 1_000

function CallView({ call, startedAt }: { call: Call; startedAt: number }) {
  const over = call.status === 'completed' || call.status === 'failed'
  const waited = startedAt - call.createdAt
  return (
    <details class={`call is-${call.status}`}>
      <summary>
        <span class="glyph" aria-hidden="true">
          {callGlyphs[call.status]}
        </span>{' '}
        <code>{call.name}</code> {clipped(paramsText(call.params), 80)} <span class="note">{call.status}</span>{' '}
        <span class="note">
          {over ? duration(call.updatedAt - startedAt) : ''} {clockTime(startedAt)}
          {waited < minWaitMs ? null : `, waited ${duration(waited)}`}
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
