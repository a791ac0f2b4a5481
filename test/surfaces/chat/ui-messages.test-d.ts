// The AI SDK accepts our chunks, and its readers accept our streams.
import type { UIMessageChunk } from 'ai'
import { readUIMessageStream } from 'ai'
import { expectTypeOf } from 'vitest'
import { createChat, toUiMessageStream, type UiMessageChunk } from '../../../src/surfaces/chat/index.ts'

declare const engine: Parameters<typeof createChat>[0]

expectTypeOf<UiMessageChunk>().toExtend<UIMessageChunk>()
expectTypeOf(toUiMessageStream(engine, 'task-1')).toExtend<ReadableStream<UIMessageChunk>>()
readUIMessageStream({ stream: toUiMessageStream(engine, 'task-1') })

createChat(engine, { authenticate: false })
createChat(engine, { authenticate: () => ({ owner: 'ann' }), task: { systemPrompt: 'You are brief.' } })
// @ts-expect-error authenticate is required
createChat(engine, {})
// @ts-expect-error a user has an owner
createChat(engine, { authenticate: () => ({ name: 'ann' }) })
