// The abilities of the feed of events, one file each. This list alone puts them on the bus and makes their types known.
import { eventFeed } from './feed.ts'
import { eventList } from './list.ts'
import { eventPages } from './pages.ts'

export const eventAbilities = [eventFeed, eventList, eventPages] as const
