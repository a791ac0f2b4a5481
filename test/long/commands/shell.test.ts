// A command whose engine is killed: it is found and ended before it runs again.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { isAlive, type ProcessGroup, processGroupOf, reclaimAll } from '../../../src/commands/process-group.ts'
import { shell } from '../../../src/commands/shell.ts'
import { createEngine } from '../../../src/engine/create-engine.ts'
import { daemon, isRunning, onLinux, root, setup } from '../../commands/shell-world.ts'

// An engine is killed with all its state. It is a process of its own here, which prints what it has noted and waits.
describe('a command whose engine dies', () => {
  const engines: ChildProcess[] = []
  afterEach(() => {
    for (const engine of engines.splice(0)) engine.kill('SIGKILL')
  })

  /** @param opened whether the note ever becomes durable. */
  async function startEngine(command: string, opened: boolean): Promise<{ engine: ChildProcess; group: ProcessGroup }> {
    const script = `
      import { shell } from '${root}/src/commands/shell.ts'
      const note = (details) => {
        console.log(JSON.stringify(details))
        return ${opened ? 'Promise.resolve()' : 'new Promise(() => setInterval(() => {}, 1000))'}
      }
      const context = { callId: 'call-${process.pid}-' + process.pid, signal: new AbortController().signal, note }
      const run = { dependencies: async () => [], emit() {}, call: (name, params, fn) => fn(params, context) }
      await shell.run({ id: 'task-1', input: { run: ${JSON.stringify(command)}, shell: '/bin/sh' } }, run)
    `
    const node = join(root, 'node_modules/.bin/node')
    const engine = spawn(node, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    engines.push(engine)
    const [line] = (await once(createInterface(engine.stdout), 'line')) as [string]
    return { engine, group: processGroupOf(JSON.parse(line))! }
  }

  async function kill(engine: ChildProcess): Promise<void> {
    const exited = once(engine, 'exit')
    engine.kill('SIGKILL')
    await exited
  }

  it('a command does not run when its engine dies before its process group is stored', async () => {
    const { folder } = setup()
    const { engine, group } = await startEngine(`touch ${folder}/ran`, false)
    expect(await isAlive(group)).toBe(true)
    await kill(engine)
    await vi.waitFor(async () => expect(await isAlive(group)).toBe(false))
    expect(existsSync(`${folder}/ran`)).toBe(false)
  })

  it('a command whose engine dies is found by the stored process group after the death of its engine, and ended before it runs again', async () => {
    const { folder } = setup()
    const { engine, group } = await startEngine(`sleep 1000 & echo $! > ${folder}/pid; touch ${folder}/ran; wait`, true)
    await vi.waitFor(() => expect(existsSync(`${folder}/ran`)).toBe(true), { timeout: 5000 })
    await kill(engine)
    expect(await isAlive(group)).toBe(true)
    expect(await reclaimAll([group])).toEqual(['ended'])
    expect(await isRunning(Number(readFileSync(`${folder}/pid`, 'utf8')))).toBe(false)
  })

  it.runIf(onLinux)(
    'a command whose engine dies is found by the id of its call when it has a session of its own and nothing else is known',
    async () => {
      const { folder } = setup()
      const command = `mkfifo ${folder}/fifo; ${daemon(`${folder}/fifo`)} & cat ${folder}/fifo > ${folder}/pid; touch ${folder}/ran`
      const { engine, group } = await startEngine(`${command}; sleep 1000`, true)
      await vi.waitFor(() => expect(existsSync(`${folder}/ran`)).toBe(true), { timeout: 5000 })
      await kill(engine)
      const pid = Number(readFileSync(`${folder}/pid`, 'utf8'))
      expect(await isRunning(pid)).toBe(true)
      expect(await reclaimAll([{ mark: group.mark }])).toEqual(['ended'])
      expect(await isRunning(pid)).toBe(false)
      expect(await isAlive(group)).toBe(false)
    },
  )

  it.runIf(onLinux)(
    'a command whose engine dies is ended in a session of its own by the next engine before it runs again',
    async () => {
      const { folder } = setup()
      const again = 'if [ -e ran ]; then grep -qs "State:.[^Z]" /proc/$(cat pid)/status && exit 1; exit 0; fi'
      const run = `${again}; mkfifo fifo; ${daemon('fifo')} & cat fifo > pid; touch ran; sleep 1000`
      const script = `
      import { createEngine } from '${root}/src/engine/create-engine.ts'
      import { shell } from '${root}/src/commands/shell.ts'
      const engine = await createEngine({ ledger: '${folder}/ledger.db', executors: { shell } })
      const input = { run: ${JSON.stringify(run)}, shell: '/bin/sh', cwd: '${folder}' }
      await engine.create({ executor: 'shell', input })
    `
      const node = join(root, 'node_modules/.bin/node')
      const first = spawn(node, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'ignore', 'inherit'] })
      engines.push(first)
      await vi.waitFor(() => expect(existsSync(`${folder}/ran`)).toBe(true), { timeout: 10_000 })
      await kill(first)
      await using engine = await createEngine({ ledger: `${folder}/ledger.db`, executors: { shell } })
      const { tasks } = await engine.list()
      expect(await engine.settled(tasks[0]!.id)).toMatchObject({ status: 'completed' })
      expect(await isRunning(Number(readFileSync(`${folder}/pid`, 'utf8')))).toBe(false)
    },
  )
})
