// `npm run build`: builds dist from src, after installing packages if any is missing.
import { build, install } from "./fresh.mjs";

install();
build();
