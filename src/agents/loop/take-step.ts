// One step of the model: called with the whole conversation, streamed live, stored once, as a whole. A step that breaks
// off leaves only the event `model.failed`, and is retried as the policy allows.
import type { Caller } from '../../bus/caller.ts'
import { schemaPair } from '../../bus/json-schema.ts'
import { answerSchema } from '../../bus/model-schema.ts'
import { ErrandError, Failure } from '../../core/errors.ts'
import { omitUndefined } from '../../core/omit-undefined.ts'
import { startOf, storableText } from '../../core/storable-text.ts'
import { toStoredError } from '../../core/stored-error.ts'
import { identOf } from '../../entities/call.ts'
import { chatTurn, toChatMessage } from '../../entities/chat-message.ts'
import type { Conversation } from '../../entities/conversation.ts'
import type { ExecutorTask, Run } from '../../entities/executor.ts'
import type { MessageRecord, ToolCall } from '../../entities/message.ts'
import type { ParsedAgentOptions } from '../../entities/options.ts'
import type { RetryPolicy } from '../../entities/task-fields.ts'
import { type ModelEndFacts, tracedWithin } from '../../entities/telemetry.ts'
import { resolveRetry, retryDelay } from '../../machines/family.ts'
import type { AgentRun, PromptCut } from '../../operations/agent-run.ts'
import { retryableModelCodes } from '../models/model-error.ts'
import {
  addChunk,
  type ModelAnswer,
  type ModelMessage,
  type ModelStepInput,
  type ModelUsage,
  readChunk,
} from '../models/step-schema.ts'
import { paramsOf } from './call-arguments.ts'
import type { Offer, Toolbox } from './toolbox.ts'

export interface StepRequest {
  task: ExecutorTask
  run: Run
  agentRun: AgentRun
  options: ParsedAgentOptions
  tools: Toolbox
  conversation: Conversation
  inputs: readonly MessageRecord[]
}

/** Defaults for what the engine and the agent leave open. */
const defaultRetry: Partial<RetryPolicy> = {
  maxAttempts: 3,
  backoffMs: 500,
  backoff: 'exponential',
  maxBackoffMs: 30_000,
  jitter: 0.5,
  on: [...retryableModelCodes],
}

/** A shorter delay is waited out within the run; for a longer one the run gives its slot back. */
const maxHeldRestMs = 2_000

/** One step of the model, after as many tries as the policy allows. */
export async function takeStep(request: StepRequest): Promise<void> {
  const offer = request.tools.offer()
  const { run, agentRun, options, conversation } = request
  const last = conversation.steps.at(-1)?.step
  const whole = inputOf(request, offer)
  // What did not fit in the last step does not fit in this one. A new attempt may have another model.
  let prompt = shortenedPrompt(whole, last?.attempt === run.attempt ? last.shortResults : 0)
  const given = { ...defaultRetry, ...agentRun.defaults.modelRetry, ...options.modelRetry } as Partial<RetryPolicy>
  const policy = resolveRetry(given)
  const rest = `model:${run.attempt}:${conversation.steps.length + 1}`
  let isShortened = false
  for (let tries = 1 + triesBefore(conversation, rest); ; tries++) {
    const tried = prompt
    const failed = await agentRun.hold(() => tryStep(request, offer, tried))
    if (failed === undefined) return
    // Paused, canceled or timed out: no failure of the model.
    run.signal.throwIfAborted()
    const failure = withoutPartial(failureOf(failed.error))
    const { code, retryAfterMs } = failure
    const more = code === 'context_overflow' && !isShortened ? resultsToShorten(prompt.input.messages) : 0
    if (more > 0) {
      isShortened = true
      prompt = shortenedPrompt(whole, more)
      await agentRun.modelFailed({ try: tries, error: toStoredError(failure), againInMs: 0 })
      continue
    }
    const delay = retryDelay(policy, { attempt: tries, code, final: !failure.retry, retryAfterMs }, agentRun.chance())
    await agentRun.modelFailed({ try: tries, error: toStoredError(failure), againInMs: delay ?? null })
    if (delay === undefined) throw failure
    if (delay > maxHeldRestMs) await run.sleep(delay, { key: `${rest}:${tries}` })
    else {
      await agentRun.pause(delay)
      run.signal.throwIfAborted()
    }
  }
}

/** What a model is sent, and how many results of tools are shortened in it. */
interface Prompt {
  input: ModelStepInput
  shortResults: number
}

function shortenedPrompt(input: ModelStepInput, shortResults = 0): Prompt {
  return { input: { ...input, messages: withShortResults(input.messages, shortResults) }, shortResults }
}

/** Stores the model's answer; returns the error of the model if there is none. @throws when the answer cannot be stored */
async function tryStep(request: StepRequest, offer: Offer, prompt: Prompt): Promise<{ error: unknown } | undefined> {
  // Of the message with the answer, and of its streamed pieces. A failed try had another.
  const messageId = request.agentRun.nextId('msg')
  const { clock } = request.agentRun
  const startedAt = clock.now()
  const trace = request.agentRun.traceModel(prompt.input.messages)
  let answer: ModelAnswer
  try {
    answer = await tracedWithin(trace, () => streamStep(request, prompt.input, messageId))
  } catch (error) {
    trace?.end({ error: toStoredError(failureOf(error)) })
    return { error }
  }
  // Before the answer is stored, as with a call.
  trace?.end(omitUndefined({ ...endOfStep(answer), content: answer.content }))
  await store(request, offer, messageId, answer, { ...prompt, tookMs: clock.now() - startedAt })
  const cut = answer.finish === null ? undefined : promptCut(prompt.input, answer.finish.usage)
  if (cut !== undefined) await request.agentRun.promptCut(cut)
  return undefined
}

function endOfStep({ finish }: ModelAnswer): ModelEndFacts {
  return finish === null ? {} : { modelId: finish.modelId, finishReason: finish.reason, usage: finish.usage }
}

/** Number of tries before the last delay of this step in an earlier run; 0 without one. */
function triesBefore({ rests }: Conversation, key: string): number {
  const start = `${identOf(key, null)}:`
  const tries = rests.filter((ident) => ident.startsWith(start)).map((ident) => Number(ident.slice(start.length)))
  return tries.reduce((highest, each) => Math.max(highest, each), 0)
}

function inputOf({ agentRun, options, conversation, inputs }: StepRequest, offer: Offer): ModelStepInput {
  const format =
    options.result === undefined
      ? undefined
      : answerSchema(schemaPair(options.result, 'input', 'The result of the agent').json())
  const notes =
    format === undefined
      ? []
      : [`End with an answer that is nothing but JSON and fits this JSON Schema: ${JSON.stringify(format)}`]
  return {
    messages: contextOf(conversation, inputs, notes),
    tools: offer.definitions,
    ...omitUndefined({
      modelId: agentRun.modelId,
      responseFormat: format && { type: 'json' as const, schema: format },
      settings: options.settings,
    }),
  }
}

/**
 * The conversation as the model reads it: instructions, then for each step its inputs, its text and the results of its
 * calls. Results are in the order of the calls, whichever finished first. `inputs` are the
 * messages that the model has not seen yet.
 */
function contextOf(
  conversation: Conversation,
  inputs: readonly MessageRecord[],
  notes: readonly string[],
): ModelMessage[] {
  const instructions = [...conversation.system.map(({ content }) => content), ...notes].join('\n\n')
  return [
    ...(instructions === '' ? [] : [{ role: 'system' as const, content: instructions }]),
    ...conversation.steps.flatMap(chatTurn),
    ...inputs.map(toChatMessage),
  ]
}

/** Tokens are streamed as they arrive; only the whole answer is returned. */
async function streamStep(
  { agentRun, run }: StepRequest,
  input: ModelStepInput,
  messageId: string,
): Promise<ModelAnswer> {
  const { abilities: _lists, ...known } = agentRun.caller
  // The agent itself calls the model: the lists of what the model may call do not apply.
  const caller: Caller = { ...known, surface: 'agent' }
  const answer: ModelAnswer = { content: '', toolCalls: [], finish: null }
  try {
    for await (const given of agentRun.bus.stream('model:llm', input, { caller, signal: run.signal })) {
      agentRun.pieceReceived(agentRun.clock.now())
      const chunk = readChunk(given)
      addChunk(answer, chunk)
      if (chunk.content) agentRun.live(chunk.content, messageId)
    }
  } finally {
    agentRun.pieceReceived(null)
  }
  run.signal.throwIfAborted()
  return answer
}

async function store(
  request: StepRequest,
  offer: Offer,
  id: string,
  answer: ModelAnswer,
  { shortResults, tookMs }: Prompt & { tookMs: number },
): Promise<void> {
  const { run, agentRun, tools, conversation, inputs } = request
  const ids = answer.toolCalls.map((call) => storableText(call.id))
  const calls = answer.toolCalls.map((call, index): ToolCall => {
    const id = ids[index] as string
    return {
      // A result is returned under the id of its call, so each call of a step needs one of its own.
      id: id === '' || ids.indexOf(id) < index ? `call_${conversation.steps.length + 1}_${index + 1}` : id,
      tool: storableText(call.function.name),
      ability: offer.abilityOf(storableText(call.function.name)),
      arguments: storableText(call.function.arguments),
    }
  })
  await agentRun.append({
    id,
    role: 'assistant',
    content: storableText(answer.content),
    step: {
      modelId: answer.finish?.modelId ?? agentRun.modelId ?? '',
      finishReason: answer.finish?.reason ?? 'unknown',
      usage: answer.finish?.usage ?? { inputTokens: null, outputTokens: null, totalTokens: null },
      calls,
      ...omitUndefined({ parts: answer.parts, shortResults: shortResults || undefined }),
      tookMs,
      inputs: inputs.map((message) => message.id),
      attempt: run.attempt,
      pending: calls.map((call) => pendingOf(call, tools, agentRun)),
    },
  })
}

function pendingOf(call: ToolCall, tools: Toolbox, agentRun: AgentRun) {
  const tool = tools.tool(call.ability)
  const ability = tool.kind === 'ability' ? tool.ability : undefined
  // A call that only waits has no effects, so it can be repeated.
  const onInterrupt = tool.kind === 'ability' ? (ability?.onInterrupt ?? agentRun.onInterrupt) : 'rerun'
  return { name: call.ability, params: paramsOf(call.arguments), onInterrupt }
}

/** A chain of causes may be circular. */
const maxCauses = 20

/** The model's own failure, unwrapped from the errors of the bus. */
function failureOf(error: unknown): Failure {
  for (let inner = error, above = 0; inner instanceof Error && above < maxCauses; inner = inner.cause, above++) {
    if (inner instanceof Failure) return inner
  }
  const { code, message, details } = toStoredError(error)
  const own = (details as { error?: { code?: string } } | undefined)?.error?.code
  const isOurs = ErrandError.isInstance(error) && code !== 'EXECUTION_ERROR'
  return new Failure(message, { code: own ?? code, retry: !isOurs, cause: error })
}

/** The partial answer of the model must not be stored. */
function withoutPartial(failure: Failure): Failure {
  const { message, code, retry, retryAfterMs, details } = failure
  const { partial: _partial, ...kept } = (details ?? {}) as Record<string, unknown>
  return new Failure(message, {
    code,
    retry,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(Object.keys(kept).length === 0 ? {} : { details: kept }),
    cause: failure,
  })
}

// The size of what a model is sent: old results are shortened when it is too long for the model, and a provider that has cut it without an error
// is noticed.

/** What remains of a result that is shortened, in characters. */
const keptLength = 300
/** Results up to this length stay as they are: there is little to gain. */
const shortLength = 600

/** The messages with the first `count` results of tools shortened. */
function withShortResults(messages: readonly ModelMessage[], count: number): ModelMessage[] {
  let results = 0
  return messages.map((message) => (message.role === 'tool' && ++results <= count ? shortened(message) : message))
}

/**
 * How many results of tools, oldest first, are to be shortened so that the conversation has half of its length; 0 if none can be. Messages are
 * only added to a conversation, so the number names the same results in its later steps.
 */
function resultsToShorten(messages: readonly ModelMessage[]): number {
  const whole = messages.reduce((sum, { content }) => sum + content.length, 0)
  let left = whole
  let count = 0
  for (const [index, message] of messages.filter(({ role }) => role === 'tool').entries()) {
    if (left <= whole / 2) break
    const saved = message.content.length - shortened(message).content.length
    left -= saved
    if (saved > 0) count = index + 1
  }
  return count
}

function shortened(message: ModelMessage): ModelMessage {
  const { length } = message.content
  if (length <= shortLength) return message
  const note = `(shortened: it had ${length} characters, and the conversation was too long)`
  return { ...message, content: `${startOf(message.content, keptLength)}… ${note}` }
}

/** Below this number of tokens nothing is said: the estimate is too rough. */
const minExpectedTokens = 1_000

/**
 * Defined if a provider reports less than half of the tokens that four characters each would be: some servers (Ollama among them) cut a prompt that
 * is longer than their context, from its beginning and without an error.
 */
function promptCut({ messages, tools }: ModelStepInput, { inputTokens }: ModelUsage): PromptCut | undefined {
  if (inputTokens === null || inputTokens === 0) return undefined
  // Texts alone: providers do not count old reasoning, signatures and images by their bytes.
  const length = messages.reduce((sum, { content }) => sum + content.length, JSON.stringify(tools ?? []).length)
  const expectedTokens = Math.round(length / 4)
  return expectedTokens >= minExpectedTokens && inputTokens < expectedTokens / 2
    ? { inputTokens, expectedTokens }
    : undefined
}
