// The items of a task's stream: what a reader gets for each event of the task.

import type { EventType, TaskEvent } from '../entities/event.ts'
import type { MessageRecord } from '../entities/message.ts'
import { namedStream } from '../entities/output.ts'
import type { Audience } from '../entities/question.ts'
import type { TaskStatus } from '../entities/task.ts'
import type { StreamItem } from '../entities/views.ts'

type Messages = ReadonlyMap<string, MessageRecord>
type Convert = (event: TaskEvent, messages: Messages) => StreamItem[]
type ShownError = { code: string; message: string }

/** The items of an event; `messages` has the stored messages by id. */
export function itemsOf(event: TaskEvent, messages: Messages): StreamItem[] {
  return conversions[event.type]?.(event, messages) ?? []
}

/** By event type; null for events that the stream does not show. */
const conversions: Record<EventType, Convert | null> = {
  'task.created': ({ taskId, seq, data }) => [
    { taskId, seq, type: 'start', name: data.name as string, goal: (data.goal as string | undefined) ?? null },
  ],
  'task.failed': (event) => [stateItem(event), errorItem(event)],
  'task.started': (event) => [stateItem(event)],
  'task.paused': (event) => [stateItem(event)],
  'task.input_required': (event) => [stateItem(event)],
  'task.waiting': (event) => [stateItem(event)],
  'task.completed': (event) => [stateItem(event)],
  'task.retried': (event) => [stateItem(event)],
  'task.canceled': (event) => [stateItem(event)],
  'question.asked': (event) => [questionItem(event)],
  'message.appended': ({ taskId, seq, data }, messages) => {
    const message = messages.get(data.messageId as string)
    if (!message) return []
    const { id: messageId, role, content, announcement } = message
    return [{ taskId, seq, type: 'message', messageId, role, content, announcement }]
  },
  'output.written': ({ taskId, seq, data }) => [
    { taskId, seq, type: 'content', content: data.text as string, ...namedStream(data.stream) },
  ],
  'progress.reported': ({ taskId, seq, data }) => [
    { taskId, seq, type: 'progress', fraction: data.fraction as number, note: (data.note as string | null) ?? null },
  ],
  'call.started': ({ taskId, seq, data }) => [
    { taskId, seq, type: 'tool_call', callId: data.callId as string, tool: data.tool as string, args: data.args },
  ],
  'call.completed': (event) => [toolResultItem(event, { result: event.data.result })],
  'call.failed': (event) => [toolResultItem(event, { result: '', error: event.data.error as ShownError })],
  'task.claimed': null,
  'task.released': null,
  'task.resumed': null,
  'task.answered': null,
  'task.unblocked': null,
  'task.updated': null,
  'task.promoted': null,
  'task.deleted': null,
  'task.diverged': null,
  'task.repaired': null,
  'timer.fired': null,
  'run.parked': null,
  'run.continued': null,
  'run.closed': null,
  'signal.received': null,
  'machine.moved': ({ taskId, seq, data }) => [
    { taskId, seq, type: 'machine', event: data.event as string, value: data.value },
  ],
  'machine.emitted': ({ taskId, seq, data }) => [
    { taskId, seq, type: 'emitted', event: data.event as { type: string; [field: string]: unknown } },
  ],
  'model.failed': null,
  'model.prompt_cut': null,
  'agent.joined': null,
  'agent.completed': null,
  'objective.updated': null,
  'team.closed': null,
}

function stateItem({ taskId, seq, at, data: { status, from, reason } }: TaskEvent): StreamItem {
  return {
    taskId,
    seq,
    type: 'state',
    status: status as TaskStatus,
    from: (from as TaskStatus | undefined) ?? null,
    reason: (reason as string | null | undefined) ?? null,
    at,
  }
}

function errorItem({ taskId, seq, data }: TaskEvent): StreamItem {
  return { taskId, seq, type: 'error', error: data.error as ShownError, willRetry: data.willRetry === true }
}

function questionItem({ taskId, seq, data }: TaskEvent): StreamItem {
  return {
    taskId,
    seq,
    type: 'question',
    questionId: data.questionId as string,
    question: data.question as string,
    for: data.for as Audience,
    schema: data.schema ?? null,
    ...('default' in data ? { default: data.default } : {}),
  }
}

function toolResultItem(
  { taskId, seq, data }: TaskEvent,
  outcome: { result: unknown; error?: ShownError },
): StreamItem {
  return { taskId, seq, type: 'tool_result', callId: data.callId as string, tool: data.tool as string, ...outcome }
}
