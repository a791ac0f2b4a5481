// The options of the verbs that run agents (run, ask, chat, …): --model, --files, --mcp, --max-iterations. A model is resolved when it is
// first used, or earlier, so that a missing key is reported before anything is created.

import { existsSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import type { Environment } from '../../agents/models/known-providers.ts'
import type { LanguageModelLike } from '../../agents/models/language-model.ts'
import { namedModel } from '../../agents/models/named-model.ts'
import { parseScript } from '../../agents/models/script.ts'
import { createScriptedModel } from '../../agents/models/scripted-model.ts'
import { FilesRoot } from '../../commands/files/files-root.ts'
import { ErrandError, type ErrorCode } from '../../core/errors.ts'
import type { EngineOptions } from '../../engine/engine-api.ts'
import type { Plan } from '../../plans/plan.ts'
import { type FlagsOf, lists, misuse, texts, wholeNumber } from '../terminal/arguments.ts'
import { type CommandIo, note } from '../terminal/io.ts'
import { mcpAbilities, mcpHelp } from './mcp-servers.ts'

export const agentOptions = { ...texts('model', 'files', 'max-iterations'), ...lists('mcp') }

export type AgentFlags = FlagsOf<typeof agentOptions>

/** Help for `agentOptions`. */
export const agentOptionsHelp = [
  '  --model SPEC   the model of agents: openai:gpt-5-mini (with OPENAI_API_KEY), ollama:llama3.2 (a local server),',
  '                 NAME:model with NAME_BASE_URL, or script:FILE, which plays a prepared script; default: ERRAND_MODEL',
  '  --files DIR    lets agents list, read and search the text files in this folder, except hidden ones',
  mcpHelp,
  '  --max-iterations N  the maximum of model steps in one attempt of a task; default 10',
].join('\n')

export interface AgentsOptions {
  /** The model of agents that name none. */
  defaultModel: string | undefined
  /** Models that a plan file names, and the folder of their scripts. */
  named?: { models: readonly string[]; folder: string }
  /** Defaults of the plan file for flags that are not given. */
  ofPlan?: Partial<Pick<Plan, 'files' | 'folder' | 'maxIterations' | 'mcp'>>
  /** Receives notes for the user about the choice of a model. Default: a line on stderr. */
  note?: (text: string) => void
}

/**
 * Options of agents for `createEngine`. Without a model there is no `resolveModel`, so that this engine leaves the tasks of agents to
 * other processes.
 * @throws ErrandError INVALID_INPUT, NOT_FOUND
 */
export async function agentsFor(
  io: CommandIo,
  flags: AgentFlags,
  { defaultModel, named = { models: [], folder: '' }, ofPlan = {}, note: onNote }: AgentsOptions,
): Promise<Pick<EngineOptions, 'model' | 'resolveModel' | 'abilities' | 'maxIterations'>> {
  const files = flags.files === undefined ? ofPlan.files : resolve(io.cwd, flags.files)
  const steps = flags['max-iterations']
  const maxIterations = steps === undefined ? ofPlan.maxIterations : wholeNumber('max-iterations', steps, 1)
  // The commands of a plan start in its folder.
  const servers =
    flags.mcp === undefined
      ? await mcpAbilities(io, ofPlan.mcp ?? [], ofPlan.folder ?? io.cwd)
      : await mcpAbilities(io, flags.mcp, io.cwd)
  const ofFiles = files === undefined ? [] : (await import('../../index.ts')).fileAbilities(files)
  const abilities = [...ofFiles, ...servers]
  if (defaultModel === undefined && named.models.length === 0) return { abilities, maxIterations }
  const chosen = new Map<string, Promise<LanguageModelLike>>()
  const resolveModel = (id: string): Promise<LanguageModelLike> => {
    const known = chosen.get(id)
    if (known !== undefined) return known
    const location = named.models.includes(id)
      ? { folder: named.folder }
      : { folder: io.cwd, anywhere: id === defaultModel }
    const choosing = chooseModel(id, io.env, location, { note: onNote ?? ((text) => note(io, text)) })
    chosen.set(id, choosing)
    choosing.catch(() => chosen.delete(id))
    return choosing
  }
  return { model: defaultModel, resolveModel, abilities, maxIterations }
}

/** As `agentsFor`, but resolves the default model at once, so that a missing key is reported first. */
export async function readyAgents(io: CommandIo, flags: AgentFlags, defaultModel: string | undefined) {
  const agents = await agentsFor(io, flags, { defaultModel })
  if (defaultModel !== undefined) await agents.resolveModel?.(defaultModel)
  return agents
}

/** The model of agents that name none: from the flag, else the plan, else the environment. */
export function defaultModelOf(io: CommandIo, flags: AgentFlags, ofPlan?: string): string | undefined {
  if (flags.model?.trim() === '') throw misuse('--model is empty. Give a model, like --model openai:gpt-5-mini.')
  return flags.model ?? ofPlan ?? (io.env['ERRAND_MODEL']?.trim() || undefined)
}

export const howToGiveModel =
  'Give one with --model, or in ERRAND_MODEL: openai:gpt-5-mini, ollama:llama3.2 or script:FILE, for example.'

/** @throws ErrandError NO_MODEL */
export function requireModel(io: CommandIo, flags: AgentFlags): string {
  const model = defaultModelOf(io, flags)
  if (model !== undefined) return model
  throw new ErrandError('NO_MODEL', `No model is configured. ${howToGiveModel}`, { variable: 'ERRAND_MODEL' })
}

// Resolves `--model`: a script in a file, or a model of a server.

/** Where the file of a script may be. */
interface ScriptLocation {
  /** Base of relative names. */
  folder: string
  /** True for a script that was named on the command line or in the environment. Default false: in the folder or below it. */
  anywhere?: boolean
}

interface ModelChoiceOptions {
  /** Receives notes for the user about the choice. */
  note?: (text: string) => void
}

/**
 * Returns the model that a text names: `provider:name`, see `namedModel`, or `script:FILE`, which plays a script, see `parseScript`. The
 * file is in the folder or below it, unless `anywhere`, and is not hidden.
 *
 * @throws ErrandError as `namedModel`; INVALID_INPUT for a script that is invalid or outside of the folder; NOT_FOUND when the script does
 *   not exist.
 */
export async function chooseModel(
  text: string,
  env: Environment,
  location: ScriptLocation,
  options: ModelChoiceOptions = {},
): Promise<LanguageModelLike> {
  const [, file] = /^script:(.*\S.*)$/s.exec(text) ?? []
  if (file !== undefined) return scriptIn(file, location, options)
  // An empty name of a script is invalid like any other empty name.
  return namedModel(text, env, { otherForms: ', or `script:FILE`' })
}

async function scriptIn(
  file: string,
  location: ScriptLocation,
  { note }: ModelChoiceOptions,
): Promise<LanguageModelLike> {
  const model = createScriptedModel(parseScript(await scriptText(file, location), file), { modelId: file })
  note?.(`The model is the script ${file}: its answers were written beforehand, and no language model is called.`)
  return model
}

/** Reads the file as agents read files: paths outside of the folder are refused, and only regular files are opened. */
async function scriptText(file: string, { folder, anywhere = false }: ScriptLocation): Promise<string> {
  const path = resolve(folder, file)
  try {
    return anywhere && existsSync(dirname(path))
      ? await new FilesRoot(dirname(path)).text(basename(path))
      : await new FilesRoot(folder).text(file)
  } catch (error) {
    if (!ErrandError.isInstance(error)) throw error
    const { code } = error
    throw new ErrandError(
      code === 'NOT_FOUND' ? code : 'INVALID_INPUT',
      `Cannot read the script ${file}: ${whyUnreadable[code] ?? 'it is not a text file'}. A script is a text file of at most 4 MiB. A script that a plan or a task names must be in the folder of the plan (for a task: the current folder), or below it.`,
      { file },
      error,
    )
  }
}

const whyUnreadable: Partial<Record<ErrorCode, string>> = {
  NOT_FOUND: 'the file does not exist',
  FORBIDDEN: 'it is in another folder, or hidden',
  LIMIT_EXCEEDED: 'it is too large',
}
