// `errand hook install`: the settings that make a coding agent call our hooks, for its file or into it.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { messageOf } from '../../../../stored-error.ts'
import { misuse, switches, texts } from '../../arguments.ts'
import { exitCodes } from '../../exit-code.ts'
import { hookSettings, readSettings, withHooks } from '../../hook-settings.ts'
import { print } from '../../io.ts'
import { defineVerb } from '../../verb.ts'

const usualFile = '.claude/settings.json'
/** Never fetched from a registry: what runs in every session is what is installed. */
const usualCommand = 'npx --no-install errand'

export const verb = defineVerb({
  usage: 'hook install [--write] [--settings FILE] [--command COMMAND]',
  help: [
    'Prints the settings that make Claude Code call the hooks when a session begins and ends.',
    '  --write            adds them to the file of settings, beside what stands there',
    `  --settings FILE    which file; default ${usualFile}`,
    `  --command COMMAND  how errand is started; default "${usualCommand}"`,
  ].join('\n'),
  options: { ...texts('settings', 'command'), ...switches('write') },
  positionals: { max: 0 },
  async run(io, { values }) {
    const wanted = hookSettings(values.command ?? usualCommand)
    if (!values.write) {
      print(io, JSON.stringify(wanted, null, 2))
      return exitCodes.done
    }
    const file = resolve(io.cwd, values.settings ?? usualFile)
    const written = await textOf(file)
    const settings = withHooks(written === undefined ? {} : readSettings(written, file), wanted)
    if (settings === undefined) print(io, `${file} calls the hooks already.`)
    else {
      await replace(file, `${JSON.stringify(settings, null, 2)}\n`)
      print(io, `${file} calls the hooks from now on.`)
    }
  },
})

/** Undefined for a file that is not there. */
async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw cannot('read', file, error)
  }
}

/** Whole or not at all: an agent may be reading it. */
async function replace(file: string, text: string): Promise<void> {
  const beside = `${file}.${process.pid}.new`
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(beside, text)
    await rename(beside, file)
  } catch (error) {
    throw cannot('write', file, error)
  }
}

function cannot(what: string, file: string, error: unknown): Error {
  return misuse(`Cannot ${what} ${file}: ${messageOf(error)}.`, { file })
}
