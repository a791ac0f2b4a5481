// Converts our messages to the call options of the AI SDK's specification: the one place that decides what a model reads.
import { jsonObject } from '../../core/json.ts'
import type { ModelPart } from '../../entities/message.ts'
import type { LanguageModelLike } from './language-model.ts'
import type { ModelMessage, ModelStepInput, ToolCall } from './step-schema.ts'

/** The versions of the specification differ in the form of files. */
type Version = LanguageModelLike['specificationVersion']

interface ProviderOptions {
  providerOptions?: Record<string, unknown>
}

export interface TextPart {
  type: 'text'
  text: string
}

export interface ToolCallPart extends ProviderOptions {
  type: 'tool-call'
  toolCallId: string
  toolName: string
  input: Record<string, unknown>
}

type FileData = string | URL | { type: 'data'; data: string } | { type: 'url'; url: URL; originalUrl?: string }

type AssistantPart =
  | ToolCallPart
  | (ProviderOptions &
      (
        | { type: 'text' | 'reasoning'; text: string }
        | { type: 'file' | 'reasoning-file'; mediaType: string; data: FileData }
        | { type: 'custom'; kind: string }
      ))

export interface ToolResultPart {
  type: 'tool-result'
  toolCallId: string
  toolName: string
  output: { type: 'text' | 'error-text'; value: string }
}

export type PromptMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: TextPart[] }
  | { role: 'assistant'; content: AssistantPart[] }
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

export function toCallOptions(input: ModelStepInput, version: Version, signal: AbortSignal): ModelCallOptions {
  const { messages, tools, toolChoice, responseFormat, settings } = input
  return {
    prompt: toPrompt(messages, version),
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
 * The conversation in the order that every provider accepts. Templates of many servers require that user and assistant take turns, and an
 * OpenAI-compatible address does not say whose template is behind it. So consecutive results become one message, as the specification
 * requires, and so do consecutive messages of the user, and of the model. Between results and the user stands a short answer. No answer is empty,
 * and the last message is not an answer.
 */
export function toPrompt(messages: readonly ModelMessage[], version: Version = 'v4'): PromptMessage[] {
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
      const content = toAssistantParts(message, version)
      if (last?.role === 'assistant') last.content = [...last.content, ...content]
      else if (content.length > 0) prompt.push({ role: 'assistant', content })
    } else if (message.role === 'user') addUserText(prompt, message.content)
    else prompt.push({ role: 'system', content: message.content })
  }
  if (prompt.at(-1)?.role === 'assistant') addUserText(prompt, goOn)
  return prompt
}

/** What the model receives when it is asked again after an answer of its own. */
const goOn = 'Continue.'
/** What stands between the results of tools and a message of the user. */
const read = 'I have read the results.'

function addUserText(prompt: PromptMessage[], text: string): void {
  const last = prompt.at(-1)
  if (last?.role === 'user') {
    const [part] = last.content as [TextPart]
    part.text = `${part.text}\n\n${text}`
    return
  }
  if (last?.role === 'tool') prompt.push({ role: 'assistant', content: [{ type: 'text', text: read }] })
  prompt.push({ role: 'user', content: [{ type: 'text', text }] })
}

/**
 * What an answer says. Providers refuse texts of spaces alone, and answers with reasoning alone: these are left out, unless a text carries a
 * signature of the provider beside something else.
 */
function toAssistantParts(message: ModelMessage, version: Version): AssistantPart[] {
  const parts = allParts(message, version).filter((part) => !isBlank(part) || part.providerOptions !== undefined)
  return parts.every((part) => isBlank(part) || part.type.startsWith('reasoning')) ? [] : parts
}

function isBlank(part: AssistantPart): boolean {
  return part.type === 'text' && part.text.trim() === ''
}

/** The answer as it came, with what the provider wants back. Sources have no place in a prompt. */
function allParts({ content, tool_calls: calls = [], parts }: ModelMessage, version: Version): AssistantPart[] {
  if (parts === undefined) return [{ type: 'text', text: content }, ...calls.map(toToolCallPart)]
  const left = new Set(calls)
  const found = parts.flatMap((part): AssistantPart[] => {
    const { providerMetadata } = part
    const said = providerMetadata === undefined ? {} : { providerOptions: providerMetadata }
    switch (part.type) {
      case 'text':
      case 'reasoning':
        return [{ type: part.type, text: part.text, ...said }]
      case 'tool-call': {
        const call = calls[part.call]
        return call !== undefined && left.delete(call) ? [{ ...toToolCallPart(call), ...said }] : []
      }
      case 'file':
      case 'reasoning-file':
        return [{ ...toFilePart(part, version), ...said }]
      case 'custom':
        return [{ type: 'custom', kind: part.kind, ...said }]
      default:
        return []
    }
  })
  // Each call has a result, so none may be missing.
  return [...found, ...[...left].map(toToolCallPart)]
}

type FilePart = Extract<ModelPart, { type: 'file' | 'reasoning-file' }>

function toFilePart({ type, mediaType, base64 = '', url }: FilePart, version: Version): AssistantPart {
  if (url === undefined) return { type, mediaType, data: version === 'v3' ? base64 : { type: 'data', data: base64 } }
  // An address without a server cannot be read by a provider: the model reads in words that there was a file.
  if (!URL.canParse(url)) return { type: 'text', text: `[a file of type ${mediaType}: ${url}]` }
  const parsed = new URL(url)
  if (version === 'v3') return { type, mediaType, data: parsed }
  return { type, mediaType, data: { type: 'url', url: parsed, ...(parsed.href === url ? {} : { originalUrl: url }) } }
}

function toToolCallPart(call: Pick<ToolCall, 'id' | 'function'>): ToolCallPart {
  return {
    type: 'tool-call',
    toolCallId: call.id,
    toolName: call.function.name,
    input: replayableInput(call.function.arguments),
  }
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
