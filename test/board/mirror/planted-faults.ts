// Faults for the tests to detect, planted in the ports of a mirror.
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { FolderFiles } from '../../../src/board/mirror/folder-files.ts'
import type { MirrorHost } from '../../../src/board/mirror/mirror-host.ts'
import type { Reads } from '../../../src/ledger/ledger.ts'

export type Fault = 'latest' | 'in place' | 'no election'

/** `between`: called while a file that is written in place contains half of its text. */
export function plantInFiles(
  files: FolderFiles,
  dir: string,
  fault: Fault | undefined,
  between: () => void = () => {},
): FolderFiles {
  if (fault !== 'in place') return files
  return {
    ...files,
    link(from, to) {
      const state = files.read(from)
      if (!to.startsWith('task_') || files.mark(to) !== undefined || state.kind !== 'text') return files.link(from, to)
      const file = openSync(join(dir, to), 'wx')
      const half = Math.floor(state.text.length / 2)
      writeSync(file, state.text.slice(0, half))
      between()
      writeSync(file, state.text.slice(half))
      closeSync(file)
      return 'done'
    },
  }
}

export function plantInHost(host: MirrorHost, fault: Fault | undefined): MirrorHost {
  if (fault === 'latest') return forgetful(host)
  // Each mirror gets the lease, and none checks it again before writing.
  if (fault === 'no election') return unseated({ ...host, isAlive: async () => 'dead' })
  return host
}

/** A ledger that returns only the latest text of a file. */
function forgetful(host: MirrorHost): MirrorHost {
  return altered(host, (mirror) => ({
    ...mirror,
    *texts(dir, number, limit) {
      const texts = yield* mirror.texts(dir, number, limit)
      return texts.map((each) => ({ ...each, text: texts[0]?.text ?? each.text }))
    },
  }))
}

/** A ledger that reports the lease as free to every mirror. */
function unseated(host: MirrorHost): MirrorHost {
  let own = ''
  const listening: MirrorHost = {
    ...host,
    async register(id) {
      own = id
      await host.register(id)
    },
  }
  return altered(listening, (mirror) => ({
    ...mirror,
    *holder(dir) {
      const holder = yield* mirror.holder(dir)
      return holder && { ...holder, instanceId: own }
    },
  }))
}

type MirrorReads = Reads['mirror']

function altered(host: MirrorHost, alter: (mirror: MirrorReads) => MirrorReads): MirrorHost {
  const seen = <Some extends Reads>(tx: Some): Some => ({ ...tx, mirror: { ...tx.mirror, ...alter(tx.mirror) } })
  return {
    ...host,
    read: (query) => host.read((tx) => query(seen(tx))),
    step: (step) => host.step({ ...step, decide: (tx) => step.decide(seen(tx)) }),
  }
}
