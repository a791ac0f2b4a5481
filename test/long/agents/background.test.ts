// Commands in the background over a crash: the agent reads the notification once, and an interrupted command is not run again.
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { commandAbilities } from '../../../src/commands/operations/command-abilities.ts'
import { isAlive, processGroupOf } from '../../../src/commands/process-group.ts'
import type { Engine } from '../../../src/engine/engine-api.ts'
import type { Task } from '../../../src/entities/task.ts'
import { type BackgroundOrders, backgroundTask } from '../../agents/background-process.ts'
import { background, look, notificationsIn, wait } from '../../agents/background-world.ts'
import { llm, said, tool } from '../../agents/world.ts'
import { createPlace } from '../../crash/child.ts'
import { ledgerFile, openEngine } from '../../engine/world.ts'
import { programOf } from '../../programs.ts'

describe('the end of a background command, over a crash', () => {
  /** Starts a process with such an agent, and kills it when it reports `what`. */
  async function killedWhen(orders: BackgroundOrders, what: string): Promise<void> {
    const program = programOf(import.meta.dirname, '../../agents/background-process.ts')
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, JSON.stringify(orders)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = new Promise((resolve) => child.once('exit', resolve))
    onTestFinished(async () => {
      child.kill('SIGKILL')
      await exited
    })
    for await (const line of createInterface({ input: child.stdout })) {
      if ((JSON.parse(line) as { what: string }).what !== what) continue
      child.kill('SIGKILL')
      await exited
      return
    }
    throw new Error(`The process ended before it said "${what}".`)
  }

  async function goOn({ ledger, folder }: BackgroundOrders) {
    const model = llm((_input, step) => (step === 1 ? wait : step === 2 ? look('1') : { content: 'Done.' }))
    const engine = (await openEngine({
      ledger,
      abilities: [model.ability, tool('test:look', () => 'looked'), ...commandAbilities(folder)],
    })) as Engine
    const task = await engine.create(backgroundTask)
    expect(await engine.result(task)).toBe('Done.')
    return { engine, model, task, children: await engine.children(task) }
  }

  it('S4-062 the next process reads the notification once, if it was written and not yet read', async () => {
    const { ledger, folder } = createPlace()
    const orders = { ledger, folder, command: 'echo built' }
    await killedWhen(orders, 'notified')
    const { model, children } = await goOn(orders)
    expect(children.map(({ status }) => status)).toEqual(['completed'])
    expect(notificationsIn(model.messages(1))).toEqual([
      `[background] ${children[0]?.id} "echo built" completed: exit 0\nstdout:\nbuilt`,
    ])
    expect(notificationsIn(model.messages(3))).toHaveLength(1)
  })

  it('S4-062 an interrupted background command has failed and is not run again', async () => {
    const { ledger, folder } = createPlace()
    const orders = { ledger, folder, command: 'echo run >> runs; echo started; sleep 300' }
    await killedWhen(orders, 'printed')
    const { engine, model, task, children } = await goOn(orders)
    expect(children.map(({ status, error }) => `${status} ${error?.code}`)).toEqual(['failed CALL_INTERRUPTED'])
    const notified = notificationsIn(model.messages(3))
    expect(notified).toEqual([
      expect.stringMatching(
        /^\[background\] \S+ ".*" failed: The call "shell" was interrupted and may have happened: /,
      ),
    ])
    expect((await said(engine, task)).filter((line) => line.includes('[background]'))).toHaveLength(1)
    expect(readFileSync(join(folder, 'runs'), 'utf8')).toBe('run\n')
    const [call] = await engine.calls(children[0] as Task)
    const group = processGroupOf(call?.details)
    expect(group && (await isAlive(group))).toBe(false)
  })

  it('S4-062 the notification is read once if the engine was closed in between', async () => {
    const ledger = ledgerFile()
    const folder = join(ledger, '../work')
    mkdirSync(folder)
    const stuck = llm((_input, step) => (step === 1 ? background('echo built') : new Promise<never>(() => {})))
    const first = (await openEngine({
      ledger,
      abilities: [stuck.ability, ...commandAbilities(folder)],
      abortGraceMs: 0,
      shutdownTimeoutMs: 0,
    })) as Engine
    await first.create(backgroundTask)
    for await (const { data } of first.events()) if (String(data['messageId']).includes('-told-')) break
    await first.close()
    const { model } = await goOn({ ledger, folder, command: '' })
    expect(notificationsIn(model.messages(1))).toHaveLength(1)
    expect(notificationsIn(model.messages(3))).toHaveLength(1)
  })
})
