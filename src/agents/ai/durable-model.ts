// A language model whose steps are journaled, passed to the AI SDK in place of the provider's own. The options of a
// step are the identity of its entry, the answer is the result; the provider is called only for steps that are not in
// the journal.

import { z } from 'zod'
import { systemClock } from '../../core/clock.ts'
import { ErrandError, Failure } from '../../core/errors.ts'
import { canonicalJson } from '../../core/json.ts'
import { toImage } from '../../core/json-image.ts'
import { parse } from '../../core/parse.ts'
import { sha256 } from '../../core/sha256.ts'
import { typeName } from '../../core/type-name.ts'
import type { CallContext } from '../../entities/call-options.ts'
import type { Run } from '../../entities/executor.ts'
import { retryAfter } from '../models/provider-error.ts'
import { anyOf, type CallSettings, type FailedOutcome, journaled, type Outcome } from './journaled.ts'
import { brokenStream, condensed, StepRelay, type StreamPart, streamOf } from './step-relay.ts'

/**
 * The part of a language model that is used: models of the AI SDK (specification v3 or v4), wrapped ones included, are
 * assignable.
 */
export interface ModelLike {
  readonly specificationVersion: 'v3' | 'v4'
  readonly provider: string
  readonly modelId: string
  doGenerate(options: never): PromiseLike<unknown>
  doStream(options: never): PromiseLike<{ stream: ReadableStream<unknown> }>
}

/** The options that the AI SDK passes to a model: everything but the signal and the headers determines the answer. */
export interface StepOptions {
  abortSignal?: AbortSignal | undefined
  headers?: unknown
  prompt?: unknown
  tools?: unknown
  [setting: string]: unknown
}

/** A streamed step as it is stored. */
interface StreamedStep {
  parts: StreamPart[]
  response: unknown
  /** The stream broke off; its parts are not stored. */
  broken: boolean
}

interface StreamAnswer {
  stream: ReadableStream<StreamPart>
  response?: unknown
}

const generatedSchema = z.looseObject({ content: z.array(z.unknown()) })
const streamedSchema = z.looseObject({
  stream: z.custom<ReadableStream<StreamPart>>(
    (value) => typeof (value as { getReader?: unknown } | null | undefined)?.getReader === 'function',
    'expected a ReadableStream',
  ),
})
type Generated = z.infer<typeof generatedSchema>

/** Prompts are only compared, so the limit is only that of recursion. */
const maxPromptDepth = 1_000

/** @throws ErrandError INVALID_INPUT for anything but a language model of the specification v3 or v4. */
export function checkModel(model: object): void {
  const { specificationVersion, modelId, doGenerate } = model as Partial<ModelLike>
  const isCurrent = specificationVersion === 'v3' || specificationVersion === 'v4'
  if (isCurrent && typeof doGenerate === 'function') return
  const lacks = isCurrent
    ? 'it has no `doGenerate`, which generateText requires'
    : `expected a language model of the specification v3 or v4, got ${JSON.stringify(specificationVersion) ?? typeName(specificationVersion)}`
  throw new ErrandError(
    'INVALID_INPUT',
    `durable cannot journal the model ${JSON.stringify(modelId) ?? ''}: ${lacks}. Use a provider of AI SDK 6 or later.`,
    { specificationVersion, modelId },
  )
}

/** A model and where its steps are recorded. */
interface JournaledModel<M extends ModelLike = ModelLike> {
  run: Run
  model: M
  /** Identity of its steps in place of their options. */
  key: string | undefined
  settings: CallSettings
}

/** A proxy of the model; its two methods that answer go through the journal. */
export function durableModel<M extends ModelLike>(journaledModel: JournaledModel<M>): M {
  const own: Record<PropertyKey, unknown> = {
    doGenerate: (options: StepOptions) => generate(journaledModel, options),
    doStream: (options: StepOptions) => stream(journaledModel, options),
  }
  return new Proxy(journaledModel.model, {
    get(target, property) {
      if (Object.hasOwn(own, property)) return own[property]
      // Providers are classes with private fields: their methods need the provider itself as `this`.
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

async function generate(journaledModel: JournaledModel, options: StepOptions): Promise<Generated> {
  const { model } = journaledModel
  const outcome = await takeStep<Generated>(journaledModel, 'generate', options, async ({ signal }) => {
    const abortSignal = anyOf(signal, options.abortSignal)
    const answer = await model.doGenerate({ ...options, abortSignal } as never)
    return judgeAnswer(withoutEcho(parse(generatedSchema, answer, `what the model "${model.modelId}" generated`)))
  })
  if (outcome.ok) return outcome.value
  // The model finished with an error: the SDK gets the answer that contains it.
  if (outcome.also !== undefined) return outcome.also as Generated
  throw outcome.error
}

/** Resolves when the provider begins to answer, or immediately with the step in the journal. */
function stream(journaledModel: JournaledModel, options: StepOptions): Promise<StreamAnswer> {
  const { model } = journaledModel
  const opened = Promise.withResolvers<StreamAnswer>()
  let relay: StepRelay | undefined
  const outcome = takeStep<StreamedStep>(journaledModel, 'stream', options, async ({ signal }) => {
    // Only the time-out of the stream leads here a second time, and a partly streamed step cannot be repeated.
    if (relay !== undefined) return { ok: false, error: lateStep() }
    const abortSignal = anyOf(signal, options.abortSignal)
    const given: unknown = await model.doStream({ ...options, abortSignal } as never)
    const answer = parse(streamedSchema, given, `what the model "${model.modelId}" streamed`)
    signal.throwIfAborted()
    relay = new StepRelay()
    opened.resolve({ ...answer, stream: relay.stream })
    return passStep(relay, answer, abortSignal)
  })
  void outcome.then((settled) => {
    const step = stepOf(settled)
    const broken = step === undefined || step.broken ? (settled as FailedOutcome) : undefined
    if (relay !== undefined && broken !== undefined) relay.break(broken.error)
    else if (relay !== undefined) relay.release()
    else if (step !== undefined) opened.resolve(replayed(step, broken))
    else opened.reject((settled as FailedOutcome).error)
  })
  return opened.promise
}

async function takeStep<T>(
  { run, model: { modelId, provider }, key, settings }: JournaledModel,
  method: 'generate' | 'stream',
  options: StepOptions,
  perform: (context: CallContext) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const { abortSignal, headers: _headers, ...question } = options
  const identity = key ?? sha256(canonicalJson(toImage(question, 'the prompt', maxPromptDepth)))
  return journaled(run, {
    name: `model ${modelId}`,
    key: `${method}:${identity}`,
    params: { provider, method, messages: lengthOf(question.prompt), tools: namesOf(question.tools) },
    options: { onInterrupt: 'rerun', ...settings },
    perform: async (context) => {
      try {
        return await perform(context)
      } catch (error) {
        const retry = isRetryable(error) && abortSignal?.aborted !== true
        const headers = (error as { responseHeaders?: unknown } | undefined)?.responseHeaders
        return { ok: false, error, retry, retryAfterMs: retryAfter(headers, systemClock) }
      }
    },
  })
}

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0
}

function namesOf(tools: unknown): string[] {
  return Array.isArray(tools) ? tools.map((tool: { name?: unknown }) => String(tool.name)) : []
}

// ── outcomes ──

/**
 * The request repeats the whole conversation and the body the whole answer: neither is stored or returned, in any run.
 */
function withoutEcho({ request: _request, response, ...answer }: Generated): Generated {
  if (typeof response !== 'object' || response === null) return answer
  const { body: _body, ...metadata } = response as Record<string, unknown>
  return { ...answer, response: metadata }
}

/** A step that ended with an error is a failed call, so that a new attempt repeats it; this attempt gets the answer. */
function judgeAnswer(answer: Generated): Outcome<Generated> {
  const { finishReason } = answer as { finishReason?: unknown }
  const reason = (finishReason as { unified?: unknown } | undefined)?.unified ?? finishReason
  if (reason !== 'error') return { ok: true, value: answer }
  return { ok: false, error: new Error('The model finished with an error.'), also: answer }
}

/** Passes a step on to the SDK, and resolves to the outcome to record. */
async function passStep(
  relay: StepRelay,
  { stream, response }: { stream: ReadableStream<StreamPart>; response?: unknown },
  signal: AbortSignal,
): Promise<Outcome<StreamedStep>> {
  try {
    const parts = condensed(await relay.pass(stream, signal))
    return judgeParts({ parts, response, broken: false })
  } catch (error) {
    return { ok: false, error, retry: false, also: { parts: [], response, broken: true } satisfies StreamedStep }
  }
}

function judgeParts(step: StreamedStep): Outcome<StreamedStep> {
  const failed = step.parts.find(({ type }) => type === 'error')
  if (failed === undefined && step.parts.some(({ type }) => type === 'finish')) return { ok: true, value: step }
  const error = failed?.['error'] ?? new Error('The stream of the model ended before its step was finished.')
  return { ok: false, error, retry: false, also: step }
}

/** The streamed step, if the stream was ever opened. */
function stepOf(outcome: Outcome<StreamedStep>): StreamedStep | undefined {
  return outcome.ok ? outcome.value : (outcome.also as StreamedStep | undefined)
}

/** A stream that broke off breaks again when replayed, instead of failing to open: the SDK distinguishes the two. */
function replayed({ parts, response }: StreamedStep, broken: FailedOutcome | undefined): StreamAnswer {
  const stream = broken === undefined ? streamOf(parts) : brokenStream(broken.error)
  return response === undefined ? { stream } : { stream, response }
}

function lateStep(): Failure {
  return new Failure('The step took longer than its timeoutMs after it had begun to stream.', {
    code: 'TIMEOUT',
    retry: false,
  })
}

// ── retries ──

/** The AI SDK's errors say whether a retry may help. */
function isRetryable(error: unknown): boolean {
  return !ErrandError.isInstance(error) && (error as { isRetryable?: unknown } | undefined)?.isRetryable !== false
}
