// Which models the verbs that work have (run, ask, chat), and what else their agents get: --model, --files, --max-iterations.
// A model is chosen when it is first asked for, or before, so that a missing key is told before anything has been created.
import { resolve } from 'node:path'
import type { EngineOptions } from '../../api.ts'
import { ErrandError } from '../../errors.ts'
import type { LanguageModelLike } from '../../models/language-model.ts'
import { type FlagsOf, misuse, texts, wholeNumber } from './arguments.ts'
import type { CommandIo } from './io.ts'
import { chooseModel } from './model-choice.ts'

export const agentOptions = texts('model', 'files', 'max-iterations')

export type AgentFlags = FlagsOf<typeof agentOptions>

/** What `help` says of them. */
export const agentOptionsHelp = [
  '  --model SPEC   the model of agents: openai:gpt-5-mini (with OPENAI_API_KEY), ollama:llama3.2 (a server of your own),',
  '                 NAME:model with NAME_BASE_URL, or script:FILE, which plays what was written beforehand; else ERRAND_MODEL',
  '  --files DIR    agents may list, read and search the text files in this folder; hidden ones and what lies outside never',
  '  --max-iterations N  steps that a model may take in one attempt of a task; default 10',
].join('\n')

export interface ModelSourceOptions {
  /** The model of agents that name none. */
  defaultModel: string | undefined
  /** Models that are named in a file, and the folder in which they look for theirs. */
  named?: { models: readonly string[]; folder: string } | undefined
  /** Told what the user should know about a choice. */
  note: (text: string) => void
}

/** The models of one call of the command line, each chosen once. */
export class ModelSource {
  readonly #io: CommandIo
  readonly #options: ModelSourceOptions
  readonly #chosen = new Map<string, Promise<LanguageModelLike>>()

  constructor(io: CommandIo, options: ModelSourceOptions) {
    this.#io = io
    this.#options = options
  }

  /** For `createEngine`: nothing when there is no model at all, so that the engine leaves the tasks of agents to others. */
  get engineOptions(): Pick<EngineOptions, 'model' | 'resolveModel'> {
    const { defaultModel, named } = this.#options
    if (defaultModel === undefined && (named === undefined || named.models.length === 0)) return {}
    return { model: defaultModel, resolveModel: (id) => this.choose(id) }
  }

  /** @throws ErrandError INVALID_INPUT, NOT_FOUND, NO_MODEL, NOT_OFFERED as `chooseModel`. */
  choose(id: string): Promise<LanguageModelLike> {
    const { named, note } = this.#options
    const known = this.#chosen.get(id)
    if (known !== undefined) return known
    const folder = named?.models.includes(id) ? named.folder : this.#io.cwd
    const choosing = chooseModel(id, this.#io.env, folder, { note })
    this.#chosen.set(id, choosing)
    choosing.catch(() => this.#chosen.delete(id))
    return choosing
  }
}

/** The model of agents that name none: of the flag, else of the plan, else of the environment. */
export function defaultModelOf(io: CommandIo, flags: AgentFlags, ofPlan?: string): string | undefined {
  if (flags.model?.trim() === '') throw misuse('--model is empty: it takes a model, like --model openai:gpt-5-mini.')
  return flags.model ?? ofPlan ?? (io.env['ERRAND_MODEL']?.trim() || undefined)
}

export const howToGiveModel =
  'Give one with --model, or in ERRAND_MODEL: openai:gpt-5-mini, ollama:llama3.2 or script:FILE, for example.'

/** @throws ErrandError NO_MODEL */
export function requireModel(io: CommandIo, flags: AgentFlags): string {
  const model = defaultModelOf(io, flags)
  if (model !== undefined) return model
  throw new ErrandError('NO_MODEL', `There is no model to ask. ${howToGiveModel}`, { variable: 'ERRAND_MODEL' })
}

/** The rest of what agents get, for `createEngine`. @throws ErrandError INVALID_INPUT, NOT_FOUND */
export async function agentFacilities(
  io: CommandIo,
  flags: AgentFlags,
  ofPlan: { files?: string | undefined; maxIterations?: number | undefined } = {},
): Promise<Pick<EngineOptions, 'abilities' | 'maxIterations'>> {
  const files = flags.files === undefined ? ofPlan.files : resolve(io.cwd, flags.files)
  const steps = flags['max-iterations']
  const maxIterations = steps === undefined ? ofPlan.maxIterations : wholeNumber('max-iterations', steps, 1)
  return { abilities: files === undefined ? undefined : await abilitiesOver(files), maxIterations }
}

async function abilitiesOver(folder: string): Promise<NonNullable<EngineOptions['abilities']>> {
  const { fileAbilities } = await import('../../abilities/fs/file-abilities.ts')
  return fileAbilities(folder)
}
