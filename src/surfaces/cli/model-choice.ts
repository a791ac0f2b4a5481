// Resolves `--model`: a script in a file, or a model of a server.
import { existsSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import type { Environment } from '../../agents/models/known-providers.ts'
import type { LanguageModelLike } from '../../agents/models/language-model.ts'
import { type NamedModelOptions, namedModel } from '../../agents/models/named-model.ts'
import { parseScript } from '../../agents/models/script.ts'
import { createScriptedModel } from '../../agents/models/scripted-model.ts'
import { FilesRoot } from '../../commands/files/files-root.ts'
import { ErrandError, type ErrorCode } from '../../core/errors.ts'

/** Where the file of a script may be. */
export interface ScriptLocation {
  /** Base of relative names. */
  folder: string
  /** True for a script that was named on the command line or in the environment. Default false: in the folder or below it. */
  anywhere?: boolean
}

export interface ModelChoiceOptions extends Pick<NamedModelOptions, 'loadProvider'> {
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
  return namedModel(text, env, { loadProvider: options.loadProvider, otherForms: ', or `script:FILE`' })
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
