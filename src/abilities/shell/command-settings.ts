// What the abilities that run commands share: where and how commands run, as the embedder said, and what a command is.
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import { type Clock, systemClock } from '../../clock.ts'
import { ErrandError } from '../../errors.ts'
import { parse, requireText } from '../../parse.ts'

/** What `commandAbilities` takes beside the folder. */
export interface CommandAbilityOptions {
  /** How long a command of `shell:run` may take where the caller does not say, in milliseconds. Default 120,000. */
  timeoutMs?: number
  /** Each command is first put to a person; a text says what to ask. Default false. */
  confirm?: boolean | string
  /**
   * How long a command may take to end when it is asked to (TERM), before it is made to (KILL), in milliseconds. Its run is closed
   * after it has ended, however short `abortGraceMs` is. Default 2000.
   */
  killGraceMs?: number
  clock?: Clock
}

export interface CommandSettings extends Required<CommandAbilityOptions> {
  /** Absolute: it stands in stored tasks. */
  folder: string
}

const optionsSchema = z.strictObject({
  timeoutMs: z.number().positive().max(86_400_000).default(120_000),
  confirm: z.union([z.boolean(), z.string().trim().min(1).max(1000)]).default(false),
  killGraceMs: z.number().min(0).default(2000),
  clock: z
    .custom<Clock>((value) => typeof (value as Clock | null)?.setTimeout === 'function', 'expected a Clock')
    .default(() => systemClock),
})

export const commandSchema = z.string().trim().min(1).max(100_000).describe('For the shell, as on a command line.')

/** @throws ErrandError NOT_FOUND { folder }; UNKNOWN_OPTION, INVALID_INPUT for bad options. */
export function settingsOf(folder: string, options: CommandAbilityOptions): CommandSettings {
  const path = resolve(requireText(folder, 'the folder of the commands'))
  if (!isFolder(path)) {
    throw new ErrandError('NOT_FOUND', `There is no folder ${path} for commands to run in. Make it, or name another.`, {
      folder: path,
    })
  }
  return { folder: path, ...(parse(optionsSchema, options, 'commandAbilities') as Required<CommandAbilityOptions>) }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    // Whatever keeps it from being looked at keeps commands from starting there.
    return false
  }
}
