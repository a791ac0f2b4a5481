// `errand completion`: the script for bash in a real bash, and that the scripts for other shells have every verb and option.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { main } from '../../../src/surfaces/cli/main.ts'
import type { Verb, VerbTable } from '../../../src/surfaces/cli/verb.ts'
import { allVerbGroups, allVerbs } from '../../../src/surfaces/cli/verbs.ts'
import { parseArguments } from '../../../src/surfaces/terminal/arguments.ts'
import { fakeIo } from './fake-io.ts'
import { Workplace } from './workplace.ts'

const program = fileURLToPath(new URL('../../../src/surfaces/cli/bin.ts', import.meta.url))

const verbGroups = await allVerbGroups()
const verbs = await allVerbs()

async function script(shell: string): Promise<string> {
  const io = fakeIo()
  expect(await main(['completion', shell], io)).toBe(0)
  return io.out()
}

/** All verbs with their words, those below others included. */
async function verbsIn(table: VerbTable, before: string[] = []): Promise<Array<[string[], Verb]>> {
  const found: Array<[string[], Verb]> = []
  for (const [name, entry] of Object.entries(table)) {
    const verb = (await entry.load())[name] as Verb
    found.push([[...before, name], verb], ...(await verbsIn(verb.verbs ?? {}, [...before, name])))
  }
  return found
}

describe('errand completion bash', () => {
  let source = ''
  beforeAll(async () => {
    source = await script('bash')
  })

  /** What bash offers for the last of these words. */
  const offered = (...words: string[]): string[] => {
    const lines = ['COMP_WORDS=("$@")', 'COMP_CWORD=$(($# - 1))', '_errand', 'printf "%s\\n" "${COMPREPLY[@]}"']
    const options = ['--noprofile', '--norc', '-c', `${source}\n${lines.join('\n')}`, 'bash', 'errand', ...words]
    return execFileSync('bash', options, { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '')
  }

  it('errand completion bash completes the verbs by their beginning', () => {
    expect(offered('')).toEqual([...Object.keys(verbs), 'help'])
    expect(offered('pa')).toEqual(['pause'])
    expect(offered('help', 'una')).toEqual([])
    expect(offered('help', 'unb')).toEqual(['unblock'])
  })

  it('errand completion bash completes the verbs below a verb, and the options of each', () => {
    expect(offered('board', 'cla')).toEqual(['claim'])
    expect(offered('ps', '--a')).toEqual(['--all'])
    expect(offered('--ledger', 'x.db', 'ps', '--status', 'failed', '--wa')).toEqual(['--watch'])
    expect(offered('board', 'claim', '--l')).toContain('--ledger')
  })

  it('errand completion bash leaves the names of files to bash', () => {
    expect(offered('run', 'plan')).toEqual([])
    expect(source).toContain('complete -o default -F _errand errand')
  })
})

describe('errand completion bash with a ledger and a plan', () => {
  /** What bash offers for the last of these words in the folder, and what it has printed besides. */
  async function offeredIn(place: Workplace, words: string[], before = ''): Promise<string[]> {
    const source = await script('bash')
    const command = words[0] === 'npx' ? '_errand_npx' : '_errand'
    const lines = ['COMP_WORDS=("$@")', 'COMP_CWORD=$(($# - 1))', command, 'printf "%s\\n" "${COMPREPLY[@]}"']
    const bin = join(place.folder, 'node_modules/.bin')
    mkdirSync(bin, { recursive: true })
    writeFileSync(join(bin, 'errand'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, { mode: 0o755 })
    // Only `npx errand` looks into the project; `errand` itself is the one of the user.
    const path = words[0] === 'npx' ? '' : `${bin}:`
    const options = ['--noprofile', '--norc', '-c', `${before}\n${source}\n${lines.join('\n')}`, 'bash', ...words]
    const env = {
      ...process.env,
      PATH: `${path}${process.env['PATH']}`,
      ERRAND_LEDGER: join(place.folder, 'ledger.db'),
    }
    const out = execFileSync('bash', options, { cwd: place.folder, env, encoding: 'utf8', stdio: 'pipe' })
    return out.split('\n').filter((line) => line !== '')
  }

  it('errand completion bash completes the numbers of tasks, and their names where they are single words', async () => {
    await using place = new Workplace()
    await place.errand('add', 'build')
    await place.errand('add', '$(touch hacked) `touch hacked`')
    expect(await offeredIn(place, ['errand', 'show', ''])).toEqual(['1', '2', 'build'])
    expect(await offeredIn(place, ['errand', 'cancel', '1', 'bu'])).toEqual(['build'])
    expect(await offeredIn(place, ['npx', 'errand', 'why', 'b'])).toEqual(['build'])
    expect(await offeredIn(place, ['errand', 'show', '--ledger', 'none.db', ''])).toEqual([])
    expect(existsSync(join(place.folder, 'hacked'))).toBe(false)
  })

  it('errand completion bash completes the targets of the plan that is named', async () => {
    await using place = new Workplace()
    place.write('plan.yaml', 'tasks: { a: { run: x }, group: { tasks: { b: { run: y } } } }')
    expect(await offeredIn(place, ['errand', 'run', 'plan.yaml', ''])).toEqual(['a', 'group', 'group/b'])
    expect(await offeredIn(place, ['npx', 'errand', 'run', 'plan.yaml', 'group/'])).toEqual(['group/b'])
    expect(await offeredIn(place, ['errand', 'run', ''])).toEqual([])
    expect(existsSync(join(place.folder, 'ledger.db'))).toBe(false)
  })

  it('errand completion bash creates no ledger, and leaves other programs of npx to the completion that was there', async () => {
    await using place = new Workplace()
    expect(await offeredIn(place, ['errand', 'show', ''])).toEqual([])
    expect(existsSync(join(place.folder, 'ledger.db'))).toBe(false)
    const before = '_of_npx() { COMPREPLY=(cowsay); }\ncomplete -F _of_npx npx'
    expect(await offeredIn(place, ['npx', 'cow'], before)).toEqual(['cowsay'])
    expect(await offeredIn(place, ['npx', 'errand', 'compl'], before)).toEqual(['complete', 'completion'])
  })
})

it.each(['bash', 'zsh', 'fish'])('errand completion %s names every verb and every option', async (shell) => {
  const source = await script(shell)
  for (const [words, { options = {} }] of await verbsIn(verbs)) {
    expect(source).toContain(`' ${words.join(' ')}'`)
    for (const option of Object.keys(options))
      expect(source).toMatch(shell === 'fish' ? new RegExp(` -l ${option}\\b`) : new RegExp(`[' (]--${option}[' )]`))
  }
})

it('errand completion names the shells that it knows', async () => {
  for (const args of [[], ['tcsh']]) {
    const io = fakeIo()
    expect(await main(['completion', ...args], io)).toBe(2)
    expect(io.err()).toMatch(/bash.*zsh.*fish/)
  }
})

it('every example of the help is a command with arguments that its verb takes', async () => {
  for (const { verbs: group, examples } of verbGroups) {
    expect(examples.length).toBeGreaterThan(0)
    for (const [command] of examples) {
      const [name = '', ...args] = (/errand ([^)]*)/.exec(command)?.[1]?.match(/"[^"]*"|\S+/g) ?? []).map((word) =>
        word.replaceAll('"', ''),
      )
      expect(Object.keys(group)).toContain(name)
      const verb = (await group[name]?.load())?.[name] as Verb
      expect(() => parseArguments(verb.usage, args, verb.options ?? {}, verb.positionals)).not.toThrow()
    }
  }
})
