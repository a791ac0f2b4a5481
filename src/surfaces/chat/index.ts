// `errand/ui-messages`: tasks as the UI message streams of the AI SDK, and the server side of `useChat`.
export { type ChatOptions, type ChatUser, createChat } from './chat.ts'
export type { TurnTask } from './chat-turns.ts'
export type { UiMessageChunk } from './chunks.ts'
export {
  type ChattingEngine,
  toUiMessageStream,
  type UiMessageStreamOptions,
  uiMessageResponse,
} from './ui-message-stream.ts'
