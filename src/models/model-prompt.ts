// Converts our messages to the call options of the AI SDK's specification: the same for v3 and v4 as far as text and
// tools go.
import { jsonObject } from '../core/json.ts'
import type { ModelMessage, ModelStepInput } from './step-schema.ts'

export interface TextPart {
  type: 'text'
  text: string
}

export interface ToolCallPart {
  type: 'tool-call'
  toolCallId: string
  toolName: string
  input: Record<string, unknown>
}

export interface ToolResultPart {
  type: 'tool-result'
  toolCallId: string
  toolName: string
  output: { type: 'text' | 'error-text'; value: string }
}

export type PromptMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: TextPart[] }
  | { role: 'assistant'; content: Array<TextPart | ToolCallPart> }
  | { role: 'tool'; content: ToolResultPart[] }

/** The options of `doStream`. */
export interface ModelCallOptions {
  prompt: PromptMessage[]
  tools?: Array<{ type: 'function'; name: string; description?: string; inputSchema: Record<string, unknown> }>
  toolChoice?: { type: 'auto' | 'none' | 'required' }
  responseFormat?: { type: 'json'; schema?: Record<string, unknown>; name?: string }
  temperature?: number
  maxOutputTokens?: number
  topP?: number
  seed?: number
  stopSequences?: string[]
  abortSignal?: AbortSignal
}

/** Prefix of a tool message that is an error. */
export const errorPrefix = 'Error: '

export function toCallOptions(input: ModelStepInput, signal: AbortSignal): ModelCallOptions {
  const { messages, tools, toolChoice, responseFormat, settings } = input
  return {
    prompt: toPrompt(messages),
    ...(tools?.length ? { tools: tools.map(toTool) } : {}),
    ...(tools?.length && toolChoice ? { toolChoice: { type: toolChoice } } : {}),
    ...(responseFormat ? { responseFormat } : {}),
    ...settings,
    abortSignal: signal,
  }
}

function toTool({ function: tool }: NonNullable<ModelStepInput['tools']>[number]) {
  return {
    type: 'function' as const,
    name: tool.name,
    ...(tool.description === undefined ? {} : { description: tool.description }),
    inputSchema: tool.parameters,
  }
}

/**
 * Consecutive results become one message, as the specification requires. An assistant message without text and calls is
 * left out: some providers refuse an empty one.
 */
export function toPrompt(messages: readonly ModelMessage[]): PromptMessage[] {
  const prompt: PromptMessage[] = []
  const toolNames = new Map<string, string>()
  for (const message of messages) {
    for (const call of message.tool_calls ?? []) toolNames.set(call.id, call.function.name)
    const last = prompt.at(-1)
    if (message.role === 'tool') {
      const result = toToolResult(message, toolNames)
      if (last?.role === 'tool') last.content.push(result)
      else prompt.push({ role: 'tool', content: [result] })
    } else if (message.role === 'assistant') {
      const content = toAssistantParts(message)
      if (content.length > 0) prompt.push({ role: 'assistant', content })
    } else if (message.role === 'user')
      prompt.push({ role: 'user', content: [{ type: 'text', text: message.content }] })
    else prompt.push({ role: 'system', content: message.content })
  }
  return prompt
}

function toAssistantParts({ content, tool_calls: calls = [] }: ModelMessage): Array<TextPart | ToolCallPart> {
  const text: TextPart[] = content === '' ? [] : [{ type: 'text', text: content }]
  return [
    ...text,
    ...calls.map((call) => ({
      type: 'tool-call' as const,
      toolCallId: call.id,
      toolName: call.function.name,
      input: replayableInput(call.function.arguments),
    })),
  ]
}

/**
 * Arguments that are not a JSON object are replayed as an empty one. Providers parse the arguments of past calls, and
 * several refuse the whole conversation otherwise; the error is in the call's result.
 */
function replayableInput(text: string): Record<string, unknown> {
  return jsonObject(text) ?? {}
}

function toToolResult(message: ModelMessage, toolNames: ReadonlyMap<string, string>): ToolResultPart {
  const { content, name, tool_call_id: toolCallId = '' } = message
  return {
    type: 'tool-result',
    toolCallId,
    toolName: name ?? toolNames.get(toolCallId) ?? 'unknown',
    output: { type: content.startsWith(errorPrefix) ? 'error-text' : 'text', value: content },
  }
}
